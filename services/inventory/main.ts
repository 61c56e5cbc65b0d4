import { type BrokerLink, brokerOf, openBroker } from "../shared/broker";
import { databaseOf, openDatabase } from "../shared/database";
import { readEnvironment } from "../shared/environment";
import { createLog } from "../shared/log";
import { acceptedSchema } from "../shared/orders";
import { runProgram } from "../shared/program";
import { watch } from "../shared/watch";
import { createInventory } from "./app";
import { inventoryEnvironment } from "./environment";
import { openStock } from "./stock";

runProgram("inventory", () => {
    const environment = readEnvironment(inventoryEnvironment);
    const log = createLog("inventory", environment.LOG_LEVEL);
    const database = openDatabase(databaseOf(environment, "inventory"));
    const stock = openStock(database);
    const databaseWatch = watch(database.checkFreshConnection, database.destroyConnections);
    // The message counts as dealt with only once the decision is on its way back: a program that was killed in between
    // gets the order again, finds what it had decided, and says so.
    const decideOrders = ({ consume, publish }: BrokerLink) =>
        consume("orders.accepted", acceptedSchema, async (accepted, scope) => {
            const decided = await stock.reserve(accepted);
            await publish("orders.decided", `${decided.orderId}-decided`, decided, scope.headers);
            scope.log.info({ orderId: decided.orderId, outcome: decided.outcome }, "order decided");
        });
    const broker = openBroker({ ...brokerOf(environment, "inventory"), log, work: [decideOrders] });
    const checkReachability = async () => {
        if (!databaseWatch.reachable() && !broker.reachable()) {
            throw new Error("Neither the database nor the broker can be reached.");
        }
    };
    const application = createInventory({ stock, checkReachability, log });
    const close = async () => {
        databaseWatch.stop();
        await broker.close();
        await database.close();
    };
    return { application, port: environment.PORT, shutdownDelayMs: environment.SHUTDOWN_DELAY_MS, log, close };
});
