import { brokerOf, openBroker } from "../shared/broker";
import { databaseOf, openDatabase } from "../shared/database";
import { readEnvironment } from "../shared/environment";
import { createLog } from "../shared/log";
import { runProgram } from "../shared/program";
import { watch } from "../shared/watch";
import { createOrders } from "./app";
import { openBook } from "./book";
import { ordersEnvironment } from "./environment";
import { noteDecisions, sendOrders } from "./relay";

runProgram("orders", () => {
    const environment = readEnvironment(ordersEnvironment);
    const log = createLog("orders", environment.LOG_LEVEL);
    const database = openDatabase(databaseOf(environment, "orders"));
    const book = openBook(database);
    const databaseWatch = watch(database.checkFreshConnection, database.destroyConnections);
    const broker = openBroker({
        ...brokerOf(environment, "orders"),
        log,
        work: [sendOrders(book), noteDecisions(book)],
    });
    // Without its database it still has something to say, its problem document. Cut off from everybody it has not.
    const checkReachability = async () => {
        if (!databaseWatch.reachable() && !broker.reachable()) {
            throw new Error("Neither the database nor the broker can be reached.");
        }
    };
    const application = createOrders({ book, checkReachability, log });
    const close = async () => {
        databaseWatch.stop();
        await broker.close();
        await database.close();
    };
    return { application, port: environment.PORT, shutdownDelayMs: environment.SHUTDOWN_DELAY_MS, log, close };
});
