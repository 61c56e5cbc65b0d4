import type { Hono } from "hono";
import pino from "pino";
import { afterAll, afterEach, beforeAll, expect, it, vi } from "vitest";
import {
    CACHE_TTL_MS,
    createCatalogue,
    openProductDatabase,
    type ProductDatabase,
} from "../../services/catalogue/catalogue-app";
import { measureCalls } from "../../services/shared/calls";
import { createMetrics } from "../../services/shared/metrics";
import type { Category } from "../../services/shared/products";
import { silent, switchable } from "./support/backends";
import { describeOnPostgres, READER_PASSWORD, TestDatabase } from "./support/database";
import { local, until } from "../support/until";
import { logOf } from "./support/programs";
import { startCatalogue } from "./support/shop";

const QUERY_TIMEOUT_MS = 500;
/** More than a readiness check takes, and less than the kubelet's timeout of 1 s. */
const READINESS_MS = 900;

describeOnPostgres("the catalogue on a real PostgreSQL", () => {
    let server: TestDatabase;
    let database: ProductDatabase | undefined;
    let log: string;

    beforeAll(async () => {
        server = await TestDatabase.started();
    });
    afterAll(() => server?.remove());
    afterEach(async () => {
        vi.useRealTimers();
        await database?.close();
    });

    function open(given: { category?: Category; port?: number; password?: string } = {}): Hono {
        const { category = "HOT_DEALS", port = server.port, password = READER_PASSWORD } = given;
        const metrics = createMetrics();
        const environment = {
            PGHOST: "127.0.0.1",
            PGPORT: port,
            PGUSER: "shop_reader",
            PGPASSWORD: password,
            PGDATABASE: "shop",
            QUERY_TIMEOUT_MS,
        };
        database = openProductDatabase(environment, measureCalls(metrics));
        log = "";
        const ownLog = pino({}, { write: (line) => void (log += line) });
        return createCatalogue({ category, database, metrics, log: ownLog });
    }
    const statusOf = async (catalogue: Hono, path: string) => (await catalogue.request(path)).status;
    const stopClock = () => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    /** The status of a response that arrives by the time the stopped clock has moved this far. */
    const statusWithin = async (ms: number, catalogue: Hono, path: string) => {
        const status = statusOf(catalogue, path);
        await vi.advanceTimersByTimeAsync(ms);
        return status;
    };
    const cacheExpires = () => vi.advanceTimersByTimeAsync(CACHE_TTL_MS);

    it.each(["FASHION", "TOYS", "HOT_DEALS"] as const)("lists the products of %s and no others", async (category) => {
        const response = await open({ category }).request("/products");
        const body = (await response.json()) as { responseType: string; products: Record<string, string>[] };
        expect(response.status).toBe(200);
        expect(Object.keys(body)).toEqual(["responseType", "products"]);
        expect(body.responseType).toBe("REMOTE_SERVICE");
        expect(body.products.length).toBeGreaterThanOrEqual(8);
        for (const product of body.products) {
            expect(Object.keys(product)).toEqual(["id", "name", "category"]);
            expect(product.category).toBe(category);
        }
    });

    it("shows a changed product once its cache has expired", async () => {
        const catalogue = open();
        const names = async () => {
            const { products } = (await (await catalogue.request("/products")).json()) as {
                products: { name: string }[];
            };
            return products.map(({ name }) => name);
        };
        expect(await names()).not.toContain("Umbrella");
        await server.asOwner(
            (sql) => sql`
                update product set name = 'Umbrella'
                where id = (select id from product where category = 'HOT_DEALS' limit 1)`,
        );
        await until("the cache has expired", async () => (await names()).includes("Umbrella"), local);
    });

    it("starts without a database, alive but not ready, and becomes ready with it", async () => {
        await server.stop();
        const catalogue = open();
        expect(await statusOf(catalogue, "/health/liveness")).toBe(200);
        expect(await statusOf(catalogue, "/health/readiness")).toBe(503);
        expect(await statusOf(catalogue, "/products")).toBe(503);
        await server.start();
        expect(await statusOf(catalogue, "/health/readiness")).toBe(200);
        expect(await statusOf(catalogue, "/products")).toBe(200);
    });

    it.each(["stop", "kill"] as const)("is not ready after a %s of the database, and recovers", async (how) => {
        const catalogue = open();
        expect(await statusOf(catalogue, "/products")).toBe(200);
        await server[how]();
        expect(await statusOf(catalogue, "/health/readiness")).toBe(503);
        await until("the cache has expired", async () => (await statusOf(catalogue, "/products")) === 503, local);
        const refused = await catalogue.request("/products");
        expect(refused.headers.get("content-type")).toBe("application/problem+json");
        expect(await refused.text()).not.toMatch(/127\.0\.0\.1|ECONN|password/);
        await server.start();
        expect(await statusOf(catalogue, "/health/readiness")).toBe(200);
        expect(await statusOf(catalogue, "/products")).toBe(200);
    });

    it("fails within its timeout if the network drops packets, and recovers with the first request after", async () => {
        const way = await switchable(server.port);
        const catalogue = open({ port: way.port });
        stopClock();
        expect(await statusWithin(1, catalogue, "/products")).toBe(200);
        way.swallow();
        await cacheExpires();
        for (let request = 0; request < 2; request++) {
            expect(await statusWithin(QUERY_TIMEOUT_MS, catalogue, "/products")).toBe(503);
        }
        way.heal();
        vi.useRealTimers();
        expect(await statusOf(catalogue, "/products")).toBe(200);
        way.close();
    });

    it("judges readiness by a fresh connection, because a kept one may survive an isolation", async () => {
        const way = await switchable(server.port);
        const catalogue = open({ port: way.port });
        stopClock();
        expect(await statusWithin(1, catalogue, "/products")).toBe(200);
        way.refuseNew();
        await cacheExpires();
        expect(await statusOf(catalogue, "/products")).toBe(200);
        expect(await statusWithin(READINESS_MS, catalogue, "/health/readiness")).toBe(503);
        way.close();
    });

    it("is not ready, within the kubelet's timeout of 1 s, if the database accepts and says nothing", async () => {
        const peer = await silent();
        const catalogue = open({ port: Number(new URL(peer.url).port) });
        stopClock();
        expect(await statusWithin(READINESS_MS, catalogue, "/health/readiness")).toBe(503);
        peer.close();
    });

    it("is not ready with a wrong password, and logs why without the password", async () => {
        expect(await statusOf(open({ password: "wrong-one" }), "/health/readiness")).toBe(503);
        expect(log).toContain("password authentication failed");
        expect(log).not.toContain("wrong-one");
    });

    it("exits with 0 on SIGTERM without waiting, with connections in its pool", async () => {
        const program = await startCatalogue(server, "HOT_DEALS");
        expect((await fetch(`${program.url}/products`)).status).toBe(200);
        expect(await program.stop()).toBe(0);
        expect(logOf(program).at(-1)).toMatchObject({ msg: "catalogue stopped", connectionsCut: 0 });
    });
});
