import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import { REMEMBERED_MS } from "../../services/catalogue/database";
import { silent, switchable } from "./support/backends";
import { bundle, startProgram, type RunningProgram } from "./support/programs";
import { describeOnPostgres, OWNER_PASSWORD, READER_PASSWORD, TestDatabase } from "./support/database";
import { eventually } from "./support/ports";

const QUERY_TIMEOUT_MS = 700;

describeOnPostgres("the catalogue on a real PostgreSQL", () => {
    let database: TestDatabase;
    let catalogue: RunningProgram | undefined;

    beforeAll(async () => {
        bundle("catalogue");
        database = await TestDatabase.started();
    });
    afterAll(() => database?.remove());
    afterEach(() => catalogue?.kill());

    async function start(environment: Record<string, string> = {}): Promise<RunningProgram> {
        catalogue = await startProgram("catalogue", {
            CATEGORY: "HOT_DEALS",
            PGHOST: "127.0.0.1",
            PGPORT: String(database.port),
            PGPASSWORD: READER_PASSWORD,
            QUERY_TIMEOUT_MS: String(QUERY_TIMEOUT_MS),
            ...environment,
        });
        return catalogue;
    }
    const status = async (path: string) => (await fetch(catalogue!.url + path)).status;
    /** A list that was asked for before is not remembered any more. */
    const forgotten = () => sleep(REMEMBERED_MS + 20);
    const timed = async (path: string) => {
        const begin = performance.now();
        return { status: await status(path), durationMs: performance.now() - begin };
    };

    it.each(["FASHION", "TOYS", "HOT_DEALS"])("offers the products of %s and no others", async (category) => {
        await start({ CATEGORY: category });
        const response = await fetch(`${catalogue!.url}/products`);
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

    it("shows a changed product within a moment", async () => {
        await start();
        const names = async () =>
            (
                (await (await fetch(`${catalogue!.url}/products`)).json()) as { products: { name: string }[] }
            ).products.map(({ name }) => name);
        expect(await names()).not.toContain("Umbrella");
        await database.query(
            (sql) =>
                sql`update product set name = 'Umbrella' where id = (select id from product where category = 'HOT_DEALS' limit 1)`,
            "shop",
            OWNER_PASSWORD,
        );
        await forgotten();
        expect(await names()).toContain("Umbrella");
    });

    it("starts without a database, alive but not ready, and becomes ready with it", async () => {
        await database.stop();
        await start();
        expect(await status("/health/liveness")).toBe(200);
        expect(await status("/health/readiness")).toBe(503);
        expect(await status("/products")).toBe(503);
        await database.start();
        expect(await status("/health/readiness")).toBe(200);
        expect(await status("/products")).toBe(200);
    });

    it.each(["stop", "kill"] as const)("is not ready while the database is gone by %s, and heals", async (how) => {
        await start();
        expect(await status("/products")).toBe(200);
        await database[how]();
        expect((await timed("/health/readiness")).status).toBe(503);
        await forgotten();
        const refused = await fetch(`${catalogue!.url}/products`);
        expect(refused.status).toBe(503);
        expect(refused.headers.get("content-type")).toBe("application/problem+json");
        expect(await refused.text()).not.toMatch(/127\.0\.0\.1|ECONN|password/);
        await database.start();
        await eventually("it is ready again", async () => (await status("/health/readiness")) === 200, 2000);
        expect(await status("/products")).toBe(200);
    });

    it("fails within its time-out when the network swallows its connections, and heals with it", async () => {
        const way = await switchable(database.port);
        await start({ PGPORT: String(way.port) });
        expect(await status("/products")).toBe(200);
        way.swallow();
        await forgotten();
        for (let request = 0; request < 2; request++) {
            const answer = await timed("/products");
            expect(answer.status).toBe(503);
            expect(answer.durationMs).toBeLessThan(QUERY_TIMEOUT_MS + 250);
        }
        way.heal();
        const healed = await timed("/products");
        expect(healed.status).toBe(200);
        expect(healed.durationMs).toBeLessThan(500);
        way.close();
    });

    it("judges readiness by a fresh connection, not by one that outlived an isolation", async () => {
        const way = await switchable(database.port);
        await start({ PGPORT: String(way.port) });
        expect(await status("/products")).toBe(200);
        way.refuseNew();
        await forgotten();
        expect(await status("/products")).toBe(200);
        const readiness = await timed("/health/readiness");
        expect(readiness.status).toBe(503);
        expect(readiness.durationMs).toBeLessThan(1000);
        way.close();
    });

    it("is not ready, within a kubelet's patience, when the database accepts and says nothing", async () => {
        const peer = await silent();
        await start({ PGPORT: new URL(peer.url).port });
        const readiness = await timed("/health/readiness");
        expect(readiness.status).toBe(503);
        expect(readiness.durationMs).toBeLessThan(1000);
        peer.close();
    });

    it("is not ready with a wrong password, and logs why without the password", async () => {
        await start({ PGPASSWORD: "wrong-one" });
        expect(await status("/health/readiness")).toBe(503);
        const { output } = catalogue!;
        await eventually("the log says why", () => output().includes("password authentication failed"));
        expect(output()).not.toContain("wrong-one");
    });

    it("exits with 0 at once on SIGTERM, with connections in its pool", async () => {
        await start();
        await status("/products");
        const { code, durationMs } = await catalogue!.stop();
        expect(code).toBe(0);
        expect(durationMs).toBeLessThan(1000);
    });
});
