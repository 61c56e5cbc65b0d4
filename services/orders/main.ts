import { setTimeout as sleep } from "node:timers/promises";
import { backofficeEnvironment, connect } from "../backoffice/connect";
import { type BrokerLink, brokerOf } from "../shared/broker";
import { databaseOf, openDatabase } from "../shared/database";
import { type Accepted, decidedSchema } from "../shared/orders";
import { runProgram } from "../shared/program";
import { createOrders } from "./app";
import { type Book, openBook } from "./book";

runProgram("orders", backofficeEnvironment("orders"), (environment, log) => {
    const database = openDatabase(databaseOf(environment, "orders"));
    const book = openBook(database);
    const work = [sendOrders(book), storeDecisions(book)];
    const { checkReachability, close } = connect(database, { ...brokerOf(environment, "orders"), log, work });
    return { application: createOrders({ book, checkReachability, log }), close };
});

const BATCH = 50;
const PAUSE_MS = 200;

/** Sends due orders to the inventory until the connection to the broker is lost. */
function sendOrders(book: Book): (link: BrokerLink) => Promise<void> {
    return async ({ publish, lost }) => {
        while (!lost.aborted) {
            const due = await book.takeDue(BATCH).catch(() => []);
            await Promise.all(
                due.map(({ id, items, trace }) =>
                    publish("orders.accepted", id, { orderId: id, items } satisfies Accepted, trace),
                ),
            );
            if (due.length < BATCH) await sleep(PAUSE_MS);
        }
    };
}

/** Stores the inventory's decisions. */
function storeDecisions(book: Book): (link: BrokerLink) => Promise<void> {
    return ({ consume }) =>
        consume("orders.decided", decidedSchema, async (decided, scope) => {
            const { orderId, outcome } = decided;
            if (await book.settle(decided)) scope.log.info({ orderId, outcome }, "order settled");
        });
}
