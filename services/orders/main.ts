import { backofficeEnvironment } from "../backoffice/environment";
import { connect } from "../backoffice/connect";
import { brokerOf } from "../shared/broker";
import { databaseOf, openDatabase } from "../shared/database";
import { runProgram } from "../shared/program";
import { createOrders } from "./app";
import { openBook } from "./book";
import { storeDecisions, sendOrders } from "./relay";

runProgram("orders", backofficeEnvironment("orders"), (environment, log) => {
    const database = openDatabase(databaseOf(environment, "orders"));
    const book = openBook(database);
    const work = [sendOrders(book), storeDecisions(book)];
    const { checkReachability, close } = connect(database, { ...brokerOf(environment, "orders"), log, work });
    return { application: createOrders({ book, checkReachability, log }), close };
});
