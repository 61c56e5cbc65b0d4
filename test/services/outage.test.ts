import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithNats, TestBroker } from "./support/broker";
import { describeOnPostgres, TestDatabase } from "./support/database";
import { local, until } from "../support/until";
import type { RunningProgram } from "./support/programs";
import { startOrdering } from "./support/shop";
import { Way } from "./support/way";

describeWithNats("with a broker", () => {
    describeOnPostgres("a fault between orders and the database", () => {
        let database: TestDatabase;
        let broker: TestBroker;
        let way: Way;
        let ordering: Record<"orders" | "inventory", RunningProgram>;
        let product: string;
        beforeAll(async () => {
            [database, broker] = await Promise.all([TestDatabase.started(), TestBroker.started()]);
            way = await Way.to(database.port);
            ordering = await startOrdering(way, broker);
            [{ id: product }] = await database.query((sql) => sql<[{ id: string }]>`select id from product limit 1`);
        });
        afterAll(async () => {
            Object.values(ordering ?? {}).forEach((program) => program.kill());
            way?.close();
            await broker?.remove();
            await database?.remove();
        });

        const stock = async () =>
            (
                await database.asOwner(
                    (sql) => sql<[{ quantity: number }]>`select quantity from stock where product_id = ${product}`,
                )
            )[0].quantity;
        const states = async () =>
            (await database.asOwner((sql) => sql<{ state: string }[]>`select state from shop_order`)).map(
                ({ state }) => state,
            );
        const place = async (key: string = randomUUID()) => {
            const headers = { "Content-Type": "application/json", "Idempotency-Key": key };
            const body = JSON.stringify({ items: [{ productId: product, quantity: 1 }] });
            return (await fetch(`${ordering.orders.url}/orders`, { method: "POST", headers, body })).status;
        };
        /** Runs a callback while the inventory is deciding an order. */
        const whileDeciding = (something: () => void) =>
            database.asOwner((sql) =>
                sql.begin(async (transaction) => {
                    await transaction`select from stock where product_id = ${product} for update`;
                    expect(await place()).toBe(202);
                    await until(
                        "the inventory waits for the stock",
                        async () => (await transaction`select from pg_locks where not granted`).length > 0,
                        local,
                    );
                    something();
                    await sleep(500);
                }),
            );

        it.each(["end", "drop"] as const)(
            "(%s of all connections) leaves the inventory alive, and an undecided order is fulfilled once",
            async (fault) => {
                const before = await stock();
                await whileDeciding(() => way[fault]());
                await sleep(2_000);
                way.restore();
                await until(
                    "the order is fulfilled",
                    async () => (await states()).every((state) => state === "FULFILLED"),
                    { ...local, timeoutMs: 20_000 },
                );
                expect(await stock()).toBe(before - 1);
                expect(ordering.inventory.output()).not.toContain("inventory failed");
                expect((await fetch(`${ordering.inventory.url}/health/liveness`)).status).toBe(200);
            },
        );

        it("(dropped packets) has orders refused, and a refused order is not placed later", async () => {
            way.drop();
            // Data in flight may still arrive.
            expect(await place()).toBe(503);
            // More requests than the pool has connections, for longer than its connect timeout.
            const keys = Array.from({ length: 40 }, () => randomUUID());
            const refused = await Promise.all(keys.map((key, index) => sleep(index * 100).then(() => place(key))));
            expect(new Set(refused)).toEqual(new Set([503]));
            way.restore();
            await until("orders are accepted again", async () => (await place()) === 202, local);
            await sleep(1_000);
            expect(
                await database.asOwner(
                    (sql) => sql`select idempotency_key from shop_order where idempotency_key in ${sql(keys)}`,
                ),
            ).toEqual([]);
        });
    });
});
