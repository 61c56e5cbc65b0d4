import fc from "fast-check";
import { METHODS } from "node:http";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithNats, TestBroker } from "./support/broker";
import { describeOnPostgres, TestDatabase } from "./support/database";
import type { RunningProgram } from "./support/programs";
import { expectProblem, sendRaw } from "./support/raw";
import { startOrdering, startShop, type RunningShop } from "./support/shop";

/** Mostly valid values: otherwise every request would fail at the first check. */
const mostly = <Value>(right: fc.Arbitrary<Value>, anything: fc.Arbitrary<unknown>) =>
    fc.oneof<fc.MaybeWeightedArbitrary<unknown>[]>({ arbitrary: right, weight: 4 }, { arbitrary: anything, weight: 1 });

const ascii = fc.string({ unit: "binary-ascii" }).map((text) => text.replace(/[\r\n]/g, ""));

describeWithNats("the whole shop", () => {
    describeOnPostgres("a random request to the gateway", () => {
        let database: TestDatabase;
        let broker: TestBroker;
        let backends: RunningProgram[] = [];
        let shop: RunningShop;
        let productIds: string[];

        beforeAll(async () => {
            [database, broker] = await Promise.all([TestDatabase.started(), TestBroker.started()]);
            const { orders, inventory } = await startOrdering(database, broker);
            backends = [orders, inventory];
            shop = await startShop(database, { ORDERS_URL: orders.url });
            productIds = (await database.query((sql) => sql<{ id: string }[]>`select id from product`)).map(
                ({ id }) => id,
            );
        });
        afterAll(async () => {
            shop?.kill();
            backends.forEach((program) => program.kill());
            await broker?.remove();
            await database?.remove();
        });

        /** Expects an answer in time, with a status below 500, and a problem document from 400 on. */
        async function expectSane(
            method: string,
            path: string,
            headers: [string, string][],
            body: string,
        ): Promise<number> {
            const lines = [
                `${method} ${path} HTTP/1.1`,
                "Host: shop",
                "Connection: close",
                `Content-Length: ${Buffer.byteLength(body)}`,
                ...headers.map(([name, value]) => `${name}: ${value}`),
            ];
            const answer = await sendRaw(shop.gateway.url, `${lines.join("\r\n")}\r\n\r\n${body}`);
            expect(answer.status).toBeLessThan(500);
            if (answer.status >= 400 && method !== "HEAD") {
                expectProblem(answer, answer.status);
            }
            return answer.status;
        }

        it("is answered in time, never with a 5xx", async () => {
            const paths = [
                "/",
                "/products",
                "/products/retry",
                "/products/cb",
                "/metrics",
                "/health/readiness",
                "/status",
                "/orders",
                "/orders/1",
                "/orders/%00",
            ];
            const path = fc.oneof(
                fc.constantFrom(...paths),
                fc.webPath(),
                fc.tuple(fc.constantFrom(...paths), fc.webQueryParameters()).map(([base, query]) => `${base}?${query}`),
                fc.string().map((text) => `/${encodeURI(text.replace(/[\ud800-\udfff]/g, ""))}`),
                fc.string().map((text) => `/orders/${encodeURI(text.replace(/[\ud800-\udfff]/g, ""))}`),
                ascii.map((text) => `/${text}`),
            );
            const names = [
                "X-Request-Id",
                "traceparent",
                "tracestate",
                "Content-Type",
                "Idempotency-Key",
                "Accept",
                "Cookie",
                "Range",
                "If-None-Match",
            ];
            const header = fc.tuple(fc.constantFrom(...names), ascii);
            const body = fc.oneof(fc.string(), fc.json(), fc.constant("x".repeat(70_000)));
            // CONNECT asks for a tunnel; Node closes the connection without an answer.
            const method = fc.constantFrom(...METHODS.filter((name) => name !== "CONNECT"), "NONSENSE");
            await fc.assert(
                fc.asyncProperty(
                    method,
                    path,
                    fc.array(header, { maxLength: 4 }),
                    body,
                    async (...request) => void (await expectSane(...request)),
                ),
                { numRuns: 600 },
            );
        });

        it("with an order is accepted or refused, never with a 5xx", async () => {
            const item = fc.record({
                productId: mostly(fc.constantFrom(...productIds), fc.oneof(fc.uuid(), fc.jsonValue())),
                quantity: mostly(fc.integer({ min: 1, max: 100 }), fc.oneof(fc.integer(), fc.double(), fc.jsonValue())),
            });
            const order = fc.record({
                items: mostly(fc.array(mostly(item, fc.jsonValue()), { maxLength: 60 }), fc.jsonValue()),
            });
            const body = mostly(
                order.map((document) => JSON.stringify(document)),
                fc.oneof(fc.json(), fc.string()),
            ).map(String);
            const key = mostly(fc.uuid(), ascii).map(String);
            const type = mostly(fc.constant("application/json"), ascii).map(String);
            const statuses = new Set<number>();
            await fc.assert(
                fc.asyncProperty(body, key, type, async (body, key, type) => {
                    statuses.add(
                        await expectSane(
                            "POST",
                            "/orders",
                            [
                                ["Idempotency-Key", key],
                                ["Content-Type", type],
                            ],
                            body,
                        ),
                    );
                }),
                { numRuns: 600 },
            );
            // Otherwise nothing got beyond the first check.
            expect([...statuses]).toEqual(expect.arrayContaining([202, 422]));
        });

        it("that is not HTTP does no harm", async () => {
            // A server ignores empty lines before a request (RFC 9112, section 2.2) and waits for one.
            const emptyLines = (array: Uint8Array) => array.every((byte) => byte === 10 || byte === 13);
            const bytes = fc
                .uint8Array({ minLength: 1, maxLength: 300 })
                .filter((array) => !emptyLines(array))
                .map((array) => Buffer.concat([array, Buffer.from("\r\n\r\n")]));
            await fc.assert(
                fc.asyncProperty(bytes, async (bytes) => {
                    expect((await sendRaw(shop.gateway.url, bytes)).status).toBeLessThan(500);
                }),
                { numRuns: 200 },
            );
            expect((await fetch(`${shop.gateway.url}/products`)).status).toBe(200);
        });
    });
});
