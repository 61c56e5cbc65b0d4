import { backofficeEnvironment, connect } from "../backoffice/connect";
import type { BrokerLink } from "../shared/broker";
import { openDatabase } from "../shared/database";
import { acceptedSchema } from "../shared/order";
import { runProgram } from "../shared/program";
import { createInventory } from "./inventory-app";
import { openStock } from "./stock";

const program = "inventory";

runProgram(program, backofficeEnvironment(program), (environment, log) => {
    const database = openDatabase(environment, program);
    const stock = openStock(database);
    // The order is acknowledged after the decision is published. A program killed in between gets the order again and
    // publishes the same decision.
    const decideOrders = ({ consume, publish }: BrokerLink) =>
        consume("orders.accepted", acceptedSchema, async (accepted, scope) => {
            const decided = await stock.reserve(accepted);
            await publish("orders.decided", decided.orderId, decided, scope.headers);
            scope.log.info({ orderId: decided.orderId, outcome: decided.outcome }, "order decided");
        });
    const { checkReachability, close } = connect(database, { environment, program, log, work: [decideOrders] });
    return { application: createInventory({ stock, checkReachability, log }), close };
});
