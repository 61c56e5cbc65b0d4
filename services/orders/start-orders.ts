import { setTimeout as sleep } from "node:timers/promises";
import { runBackoffice } from "../backoffice/connect";
import type { BrokerLink } from "../shared/broker";
import { type Accepted, decidedSchema } from "../shared/order";
import { createOrders } from "./orders-app";
import { type Book, openBook } from "./book";

runBackoffice("orders", (database) => {
    const book = openBook(database);
    const work = [sendOrders, storeDecisions].map((each) => (link: BrokerLink) => each(book, link));
    return { work, serve: (args) => createOrders({ book, ...args }) };
});

const BATCH = 50;
const PAUSE_MS = 200;

/** Sends due orders to the inventory until the connection to the broker is lost. */
async function sendOrders(book: Book, { publish, lost }: BrokerLink): Promise<void> {
    while (!lost.aborted) {
        const due = await book.takeDue(BATCH).catch(() => []);
        await Promise.all(
            due.map(({ id, items, trace }) =>
                publish("orders.accepted", id, { orderId: id, items } satisfies Accepted, trace),
            ),
        );
        if (due.length < BATCH) await sleep(PAUSE_MS);
    }
}

function storeDecisions(book: Book, { consume }: BrokerLink): Promise<void> {
    return consume("orders.decided", decidedSchema, async (decided, scope) => {
        const { orderId, outcome } = decided;
        if (await book.settle(decided)) scope.log.info({ orderId, outcome }, "order settled");
    });
}
