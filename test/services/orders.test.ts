import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { BROKER_PASSWORDS, describeWithNats, TestBroker } from "./support/broker";
import { describeOnPostgres, INVENTORY_PASSWORD, ORDERS_PASSWORD, TestDatabase } from "./support/database";
import { freePort } from "./support/ports";
import { local, until } from "../support/until";
import { logOf, type RunningProgram, startProgram } from "./support/programs";

type Item = { productId: string; quantity: number };

describeWithNats("with a broker", () => {
    describeOnPostgres("orders", () => {
        let database: TestDatabase;
        let broker: TestBroker;
        let orders: RunningProgram;
        let inventory: RunningProgram;
        let gateway: RunningProgram;
        let products: string[];
        const ports = { orders: "", inventory: "" };

        const environment = (name: "orders" | "inventory") => ({
            PORT: ports[name],
            PGHOST: "127.0.0.1",
            PGPORT: String(database.port),
            PGPASSWORD: name === "orders" ? ORDERS_PASSWORD : INVENTORY_PASSWORD,
            BROKER_HOST: "127.0.0.1",
            BROKER_PORT: String(broker.port),
            BROKER_PASSWORD: BROKER_PASSWORDS[name],
        });
        const startOrders = async () => void (orders = await startProgram("orders", environment("orders")));
        const startInventory = async () => void (inventory = await startProgram("inventory", environment("inventory")));

        beforeAll(async () => {
            [database, broker] = await Promise.all([TestDatabase.started(), TestBroker.started()]);
            ports.orders = String(await freePort());
            ports.inventory = String(await freePort());
            await Promise.all([startOrders(), startInventory()]);
            const elsewhere = "http://127.0.0.1:1";
            gateway = await startProgram("gateway", {
                FASHION_URL: elsewhere,
                TOYS_URL: elsewhere,
                HOT_DEALS_URL: elsewhere,
                ORDERS_URL: orders.url,
            });
            products = (await database.query((sql) => sql<{ id: string }[]>`select id from product order by id`)).map(
                ({ id }) => id,
            );
        });
        afterAll(async () => {
            [gateway, orders, inventory].forEach((program) => program?.kill());
            await broker?.remove();
            await database?.remove();
        });

        interface Sent {
            key?: string | null;
            headers?: Record<string, string>;
            body?: string;
        }
        const post = (items: unknown, { key = randomUUID(), headers, body = JSON.stringify({ items }) }: Sent = {}) =>
            fetch(`${gateway.url}/orders`, {
                method: "POST",
                headers: {
                    "content-type": "application/json",
                    ...(key !== null && { "idempotency-key": key }),
                    ...headers,
                },
                body,
            });
        const postAndWait = async (items: Item[], seconds: number) => {
            const response = await post(items, { headers: { prefer: `wait=${seconds}` } });
            return { status: response.status, ...((await response.json()) as { id: string; state: string }) };
        };
        const order = async (id: string) =>
            (await (await fetch(`${gateway.url}/orders/${id}`)).json()) as Record<string, unknown>;
        const settled = async (id: string, limitMs = 20_000) => {
            let seen: Record<string, unknown> = {};
            await until("the order is settled", async () => (seen = await order(id)).state !== "ACCEPTED", {
                ...local,
                timeoutMs: limitMs,
            });
            return seen;
        };
        const stockOf = async (productId: string) => {
            const { stock } = (await (await fetch(`${inventory.url}/stock`)).json()) as { stock: Item[] };
            return stock.find((item) => item.productId === productId)!.quantity;
        };
        /** Sends an order with the same key until it is accepted. */
        const accept = async (items: Item[], key: string = randomUUID()) => {
            let id = "";
            await until(
                "the order is accepted",
                async () => {
                    const response = await post(items, { key });
                    const answer = (await response.json()) as { id: string };
                    if (response.status < 500) expect(response.status).toBe(202);
                    id = answer.id;
                    return response.status === 202;
                },
                local,
            );
            return id;
        };

        it("are accepted with an id and a location, and fulfilled from the stock", async () => {
            const items = [
                { productId: products[0]!, quantity: 3 },
                { productId: products[1]!, quantity: 1 },
            ];
            const before = await stockOf(products[0]!);
            const response = await post(items);
            const accepted = (await response.json()) as { id: string };
            expect(response.status).toBe(202);
            expect(accepted).toEqual({ id: expect.stringMatching(/^[0-9a-f-]{36}$/), state: "ACCEPTED", items });
            expect(response.headers.get("location")).toBe(`/orders/${accepted.id}`);
            expect(await settled(accepted.id)).toEqual({
                id: accepted.id,
                state: "FULFILLED",
                items,
                acceptedAt: expect.any(String),
                settledAt: expect.any(String),
            });
            expect(await stockOf(products[0]!)).toBe(before - 3);
        });

        it("are rejected completely, naming the missing product, if they exceed the stock", async () => {
            await database.asOwner((sql) => sql`update stock set quantity = 2 where product_id = ${products[2]!}`);
            const before = await stockOf(products[3]!);
            const id = await accept([
                { productId: products[3]!, quantity: 1 },
                { productId: products[2]!, quantity: 3 },
            ]);
            expect(await settled(id)).toMatchObject({ state: "REJECTED", reason: `Out of stock: ${products[2]}.` });
            expect([await stockOf(products[2]!), await stockOf(products[3]!)]).toEqual([2, before]);
        });

        it("are answered once they are settled, if the client prefers to wait for that", async () => {
            const few = { productId: products[5]!, quantity: 1 };
            expect(await postAndWait([few], 10)).toMatchObject({ status: 202, state: "FULFILLED" });
            await database.asOwner((sql) => sql`update stock set quantity = 2 where product_id = ${products[2]!}`);
            const rejected = await postAndWait([{ productId: products[2]!, quantity: 3 }], 10);
            expect(rejected).toMatchObject({ state: "REJECTED", reason: `Out of stock: ${products[2]}.` });
        });

        it("with the same key are one order, however often they are sent, also concurrently", async () => {
            const before = await stockOf(products[4]!);
            const key = randomUUID();
            const ids = await Promise.all(
                Array.from({ length: 20 }, () => accept([{ productId: products[4]!, quantity: 2 }], key)),
            );
            expect(new Set(ids).size).toBe(1);
            await settled(ids[0]!);
            expect(await stockOf(products[4]!)).toBe(before - 2);
        });

        it("keep their request id from the gateway through the broker to the inventory", async () => {
            const requestId = randomUUID();
            const few = [{ productId: products[0]!, quantity: 1 }];
            const response = await post(few, { headers: { "x-request-id": requestId } });
            await settled(((await response.json()) as { id: string }).id);
            await until(
                "each program has logged it",
                () => [gateway, orders, inventory].every((program) => program.output().includes(requestId)),
                local,
            );
        });

        it("wait in the broker while there is no inventory, and no longer once it is back", async () => {
            const queue = async () => (await fetch(`${gateway.url}/orders/queue`)).json();
            const untilWaiting = (waiting: number) =>
                until(
                    `${waiting} wait`,
                    async () => ((await queue()) as { waiting: number }).waiting === waiting,
                    local,
                );
            await untilWaiting(0);
            inventory.kill();
            for (let placed = 0; placed < 5; placed++) await accept([{ productId: products[5]!, quantity: 1 }]);
            await untilWaiting(5);
            await startInventory();
            await untilWaiting(0);
        });

        it("are measured by the gateway like calls to its backends", async () => {
            const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
            expect(metrics).toMatch(/^upstream_request_duration_seconds_count\{backend="orders",outcome="ok"\} [1-9]/m);
        });

        describe("that are invalid are refused with a problem document that names the field", () => {
            const item = () => ({ productId: products[0], quantity: 1 });
            const unknown = (productId: string = randomUUID()) => ({ productId, quantity: 1 });
            const wrong: [what: string, status: number, named: string, send: () => Promise<Response>][] = [
                ["no key", 400, "Idempotency-Key", () => post([item()], { key: null })],
                ["an empty key", 400, "Idempotency-Key", () => post([item()], { key: '""' })],
                ["malformed JSON", 400, "not JSON", () => post([], { body: "{" })],
                ["no items", 422, "/items", () => post([])],
                ["items that are not an array", 422, "/items", () => post("all of them")],
                ["too many items", 422, "/items", () => post(Array.from({ length: 51 }, () => unknown()))],
                ["thousands of invalid items", 422, "must have at most 50", () => post(Array(20_000).fill(1))],
                ["a product without a UUID", 422, "/items/0/productId", () => post([unknown("shirt")])],
                ["an unknown product", 422, "/items/1/productId", () => post([item(), unknown()])],
                ["the same product twice", 422, "/items/1/productId", () => post([item(), item()])],
                ["a quantity of zero", 422, "/items/0/quantity", () => post([{ ...item(), quantity: 0 }])],
                ["a negative quantity", 422, "/items/0/quantity", () => post([{ ...item(), quantity: -1 }])],
                ["an absurd quantity", 422, "/items/0/quantity", () => post([{ ...item(), quantity: 1e300 }])],
                ["a fraction", 422, "/items/0/quantity", () => post([{ ...item(), quantity: 0.5 }])],
                ["an unknown field", 422, "colour", () => post([{ ...item(), colour: "blue" }])],
                ["a huge body", 413, "bytes", () => post([], { body: `{"items":[${" ".repeat(100_000)}]}` })],
                ["an unknown order", 404, "no order", () => fetch(`${gateway.url}/orders/${randomUUID()}`)],
                ["an order id that is not a UUID", 404, "no order", () => fetch(`${gateway.url}/orders/first`)],
                [
                    "an order id that leads elsewhere",
                    404,
                    "no order",
                    () => fetch(`${gateway.url}/orders/..%5Cmetrics`),
                ],
            ];
            it.each(wrong)("%s: %i, %s", async (_what, status, named, send) => {
                const response = await send();
                const problem = (await response.json()) as { status: number; detail: string };
                expect(response.headers.get("content-type")).toBe("application/problem+json");
                expect([response.status, problem.status]).toEqual([status, status]);
                expect(problem.detail).toContain(named);
            });

            it("a key of another order: 422, and the first order stays", async () => {
                const key = randomUUID();
                const id = await accept([{ productId: products[5]!, quantity: 1 }], key);
                const response = await post([{ productId: products[5]!, quantity: 2 }], { key });
                expect(response.status).toBe(422);
                expect(await response.json()).toMatchObject({ errors: [{ header: "Idempotency-Key" }] });
                expect((await order(id)).items).toEqual([{ productId: products[5], quantity: 1 }]);
            });
        });

        describe("are neither lost nor fulfilled twice", { timeout: 60_000 }, () => {
            let before: number;
            const product = () => products[6]!;
            beforeEach(async () => void (before = await stockOf(product())));
            const place = (count: number) =>
                Promise.all(Array.from({ length: count }, () => accept([{ productId: product(), quantity: 1 }])));
            const allFulfilled = async (ids: string[]) => {
                for (const id of ids) expect(await settled(id, 30_000)).toMatchObject({ state: "FULFILLED" });
                expect(await stockOf(product())).toBe(before - ids.length);
            };

            it("while the broker is down, and after it lost its data", async () => {
                await broker.lose();
                const ids = await place(50);
                expect(await order(ids[0]!)).toMatchObject({ state: "ACCEPTED" });
                const begun = performance.now();
                // Longer than the gateway's time limit for a call.
                const waiting = await postAndWait([{ productId: product(), quantity: 1 }], 3);
                expect(waiting).toMatchObject({ status: 202, state: "ACCEPTED" });
                expect(performance.now() - begun).toBeGreaterThan(2_500);
                ids.push(waiting.id);
                await broker.start();
                await allFulfilled(ids);
            });

            it("when the inventory is killed repeatedly while it decides them", async () => {
                const ids: string[] = [];
                for (let round = 0; round < 3; round++) {
                    ids.push(...(await place(100)));
                    inventory.kill();
                    await startInventory();
                }
                await allFulfilled(ids);
            });

            /** What the broker holds, as a program sees it. */
            const asked = async <Answer>(ask: (connection: NatsConnection) => Promise<Answer>) => {
                const account = { user: "orders", pass: BROKER_PASSWORDS.orders };
                const connection = await connect({ servers: `127.0.0.1:${broker.port}`, ...account });
                return ask(connection).finally(() => connection.close());
            };
            const held = () =>
                asked(async (connection) => (await (await jetstreamManager(connection)).streams.info("orders")).state);

            it("during a long outage of the inventory, in which the broker holds one message for each", async () => {
                inventory.kill();
                const ids = await place(20);
                await until("the broker has them", async () => (await held()).messages === 20, local);
                // As orders does every minute, when the broker has forgotten which it has.
                await asked(async (connection) => {
                    const items = [{ productId: product(), quantity: 1 }];
                    for (const orderId of [...ids, ...ids, ...ids])
                        await jetstream(connection).publish(
                            `orders.accepted.${orderId}`,
                            JSON.stringify({ orderId, items }),
                        );
                });
                expect((await held()).messages).toBe(20);
                await startInventory();
                await allFulfilled(ids);
                await until("the broker has none", async () => (await held()).messages === 0, local);
            });

            it("when the broker's disk was written by an earlier version", async () => {
                orders.kill();
                inventory.kill();
                await broker.lose();
                await broker.start();
                await asked(async (connection) => {
                    const manager = await jetstreamManager(connection);
                    const subjects = ["orders.accepted", "orders.decided"];
                    await manager.streams.add({ name: "orders", subjects, retention: "workqueue" });
                    for (const [durable_name, filter_subject] of [
                        ["inventory", "orders.accepted"],
                        ["orders", "orders.decided"],
                    ])
                        await manager.consumers.add("orders", { durable_name, filter_subject, ack_policy: "explicit" });
                });
                await Promise.all([startOrders(), startInventory()]);
                await allFulfilled(await place(5));
            });

            it("when orders is killed while it sends them", async () => {
                const ids = await place(100);
                orders.kill();
                await startOrders();
                await allFulfilled(ids);
            });

            it("when a message arrives twice", async () => {
                const ids = await place(20);
                await allFulfilled(ids);
                await database.asOwner(
                    (sql) => sql`
                            update shop_order set state = 'ACCEPTED', settled_at = null, send_after = now()
                            where id in ${sql(ids)}`,
                );
                // The broker loses its messages, and its record of message ids.
                await broker.lose();
                await broker.start();
                await allFulfilled(ids);
            });
        });

        it("are refused with a problem document while the database is down, and kept over that time", async () => {
            const id = await accept([{ productId: products[7]!, quantity: 1 }]);
            await settled(id);
            await database.stop();
            const response = await post([{ productId: products[7]!, quantity: 1 }]);
            expect([response.status, response.headers.get("content-type")]).toEqual([503, "application/problem+json"]);
            expect(await response.json()).toMatchObject({ title: "The database is not available" });
            const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
            expect(metrics).toMatch(
                /^upstream_request_duration_seconds_count\{backend="orders",outcome="bad-answer"\} 1$/m,
            );
            await database.start();
            expect(await order(id)).toMatchObject({ state: "FULFILLED" });
            await accept([{ productId: products[7]!, quantity: 1 }]).then(settled);
        });

        it("and the inventory exit cleanly on SIGTERM, without cutting a connection", async () => {
            for (const program of [orders, inventory]) {
                expect(await program.stop()).toBe(0);
                expect(logOf(program).at(-1)).toMatchObject({ connectionsCut: 0 });
                expect(program.output()).not.toContain("secret");
            }
        });
    });
});
