import { setTimeout as sleep } from "node:timers/promises";
import type { Context, Hono } from "hono";
import { Gauge } from "prom-client";
import * as z from "zod/mini";
import type { BackofficeArgs } from "../backoffice/connect";
import { createApplication, orUnavailable } from "../shared/application";
import { readJsonBody, wrongFields } from "../shared/body";
import { serveHealth } from "../shared/health";
import { type Log, reasonOf } from "../shared/log";
import type { Metrics } from "../shared/metrics";
import { type Item, itemSchema, ORDER_STATES, waitMsOf } from "../shared/order";
import { plainProblem, ProblemError, problemType } from "../shared/problem";
import { within } from "../shared/time";
import type { Book, Order } from "./book";

export interface OrdersArgs extends BackofficeArgs {
    book: Book;
}

const MOST_ITEMS = 50;
/** Interval at which a waiting request reads its order, in milliseconds. */
const POLL_INTERVAL_MS = 200;
/** Time limit for counting orders, in milliseconds: well below Prometheus's 10 s for a whole scrape. */
const SCRAPE_TIMEOUT_MS = 2_000;

const unavailable = {
    message: "the database did not answer",
    detail: "The order database did not answer. A retry with the same Idempotency-Key is safe.",
    headers: { "Retry-After": "5" },
};

// Checks the length first, because the response has a sentence for each wrong item.
const orderSchema = z.strictObject({
    items: z.pipe(
        z
            .array(z.unknown())
            .check(
                z.minLength(1, "must have at least one item"),
                z.maxLength(MOST_ITEMS, `must have at most ${MOST_ITEMS} items`),
            ),
        z.array(itemSchema).check(
            z.superRefine((items: Item[], context) => {
                items.forEach(({ productId }, index) => {
                    if (items.findIndex((item) => item.productId === productId) < index)
                        context.addIssue({
                            code: "custom",
                            path: [index, "productId"],
                            message: "is listed twice; add up the quantities",
                        });
                });
            }),
        ),
    ),
});

/**
 * Orders: `POST /orders` accepts one, `GET /orders/{id}` shows its state, `GET /orders/queue` how many messages about
 * them wait in the broker.
 *
 * An order answered with 202 is in the database. The rest may take time: orders are accepted while the broker or the
 * inventory is down, and refused while the database is down. With `Prefer: wait=10`, the answer comes when the order is
 * settled, or after 10 s.
 */
export function createOrders({ book, checkReachability, countWaiting, metrics, log }: OrdersArgs): Hono {
    const application = createApplication(log, metrics);
    serveHealth(application, log, checkReachability);
    showCounts(metrics, book, log);

    application.post("/orders", async (context) => {
        const key = readKey(context.req.header("idempotency-key"));
        const { items } = await readJsonBody(context, orderSchema);
        const placed = await orUnavailable(context, book.place(key, items, context.get("scope")), unavailable);
        switch (placed.kind) {
            case "accepted": {
                const { id } = placed.order;
                context.get("scope").log.info({ orderId: id }, "order accepted");
                const { state, reason } = await whenSettled(context, book, placed.order);
                return context.json({ id, state, reason, items }, 202, { Location: `/orders/${id}` });
            }
            case "unknown-products": {
                const errors = items.flatMap(({ productId }, index) =>
                    placed.productIds.has(productId)
                        ? [{ pointer: `/items/${index}/productId`, detail: "no such product" }]
                        : [],
                );
                throw wrongFields("unknown-products", "Unknown product", errors);
            }
            case "other-items":
                throw new ProblemError({
                    type: problemType("idempotency-key-reused"),
                    title: "The key belongs to another order",
                    status: 422,
                    detail: "Idempotency-Key: already used for an order with other items; use a new key.",
                    errors: [{ header: "Idempotency-Key", detail: "already used for an order with other items" }],
                });
        }
    });

    application.get("/orders/queue", async (context) => {
        const waiting = await countWaiting().catch((error: unknown) => {
            context.get("scope").log.warn({ cause: reasonOf(error) }, "could not count waiting messages");
            throw new ProblemError(plainProblem(503, "The message broker did not answer."));
        });
        return context.json({ waiting }, 200, { "Cache-Control": "no-store" });
    });

    application.get("/orders/:id", async (context) => {
        const id = z.uuid().safeParse(context.req.param("id"));
        const order = id.success ? await orUnavailable(context, book.find(id.data), unavailable) : undefined;
        if (order === undefined) throw new ProblemError(plainProblem(404, "There is no order with this id."));
        return context.json(await whenSettled(context, book, order), 200, { "Cache-Control": "no-store" });
    });
    return application;
}

/** Orders by state, read at each scrape. A scrape omits the metric if the database does not answer within 2 s. */
function showCounts(metrics: Metrics, book: Book, log: Log): void {
    new Gauge({
        name: "orders",
        help: "Orders by state",
        labelNames: ["state"],
        registers: [metrics],
        async collect() {
            this.reset();
            try {
                const counts = await within(SCRAPE_TIMEOUT_MS, book.countByState());
                for (const state of ORDER_STATES) this.set({ state }, counts[state] ?? 0);
            } catch (error) {
                log.warn({ metric: "orders", cause: reasonOf(error) }, "could not read a metric");
            }
        },
    });
}

/** An order once it is settled, if the client prefers to wait for that; otherwise as it is when the wait is over. */
async function whenSettled(context: Context, book: Book, order: Order): Promise<Order> {
    const until = performance.now() + waitMsOf(context.req.header("prefer"));
    let last = order;
    while (last.state === "ACCEPTED" && performance.now() + POLL_INTERVAL_MS < until) {
        await sleep(POLL_INTERVAL_MS);
        // A failed read does not matter: the order is accepted.
        last = (await book.find(last.id).catch(() => undefined)) ?? last;
    }
    return last;
}

/**
 * The value of Idempotency-Key (draft-ietf-httpapi-idempotency-key-header): a quoted string. Many clients omit the
 * quotes, so they are optional.
 */
function readKey(header: string | undefined): string {
    const key = /^(?:"([!#-[\]-~]{1,128})"|([!#-[\]-~]{1,128}))$/.exec(header ?? "");
    if (key) return (key[1] ?? key[2])!;
    const detail =
        header === undefined
            ? "is missing; send a value unique to this order, such as a UUID, which makes retries safe"
            : "must be 1 to 128 visible ASCII characters, such as a UUID";
    throw new ProblemError({
        type: problemType("idempotency-key"),
        title: "An order needs an Idempotency-Key",
        status: 400,
        detail: `Idempotency-Key: ${detail}.`,
        errors: [{ header: "Idempotency-Key", detail }],
    });
}
