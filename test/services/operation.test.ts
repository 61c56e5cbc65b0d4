import { afterAll, beforeAll, expect, it } from "vitest";
import { describeOnPostgres, READER_PASSWORD, TestDatabase } from "./support/database";
import { local, until } from "../support/until";
import { logOf, type RunningProgram } from "./support/programs";
import { startShop, type RunningShop } from "./support/shop";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

describeOnPostgres("a catalogue and its gateway", () => {
    let database: TestDatabase;
    let shop: RunningShop;
    let gateway: RunningProgram;
    let catalogue: RunningProgram;
    beforeAll(async () => {
        database = await TestDatabase.started();
        shop = await startShop(database, { LOG_LEVEL: "trace" });
        gateway = shop.gateway;
        catalogue = shop.catalogues.TOYS!;
    });
    afterAll(async () => {
        shop?.kill();
        await database?.remove();
    });

    it("write the same request id and trace id into their logs", async () => {
        await fetch(`${gateway.url}/products`, { headers: { "X-Request-Id": "followed", traceparent } });
        const logged = (program: RunningProgram) =>
            logOf(program).find((line) => line.requestId === "followed" && line.msg === "answered");
        await until(
            "both have logged it",
            () => logged(gateway) !== undefined && logged(catalogue) !== undefined,
            local,
        );
        for (const program of [gateway, catalogue]) {
            expect(logged(program)).toMatchObject({
                traceId,
                method: "GET",
                path: "/products",
                status: 200,
                durationMs: expect.any(Number),
            });
        }
    });

    it("need less than 100 MB of resident memory each, also after load", async () => {
        const deadline = performance.now() + 1500;
        const client = async () => {
            while (performance.now() < deadline) {
                const response = await fetch(`${gateway.url}/products`);
                expect(response.status).toBe(200);
                await response.arrayBuffer();
            }
        };
        await Promise.all(Array.from({ length: 16 }, client));
        for (const program of [gateway, catalogue]) {
            expect(program.residentMb()).toBeLessThan(100);
        }
    });

    it("log and measure no secrets, whatever fails", async () => {
        const secrets = {
            password: READER_PASSWORD,
            header: "Bearer abc-header-secret",
            query: "abc-query-secret",
            cookie: "abc-cookie-secret",
        };
        const headers = {
            Authorization: secrets.header,
            Cookie: `session=${secrets.cookie}`,
            "Idempotency-Key": "abc",
        };
        const askAll = async () => {
            for (const path of ["/products", "/products/retry", "/nowhere", "/health/readiness"]) {
                await fetch(`${gateway.url}${path}?key=${secrets.query}`, { headers });
                await fetch(`${catalogue.url}${path}?key=${secrets.query}`, { headers });
            }
        };
        await askAll();
        await database.stop();
        await until(
            "the catalogue's cache has expired",
            async () => (await fetch(`${catalogue.url}/products`)).status === 503,
            local,
        );
        await askAll();
        await database.start();
        const metrics = await Promise.all(
            [gateway, catalogue].map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
        );
        const seen = [gateway.output(), catalogue.output(), ...metrics].join("\n");
        expect(seen).toContain("could not read the products");
        for (const [what, secret] of Object.entries(secrets)) {
            expect([what, seen.includes(secret)]).toEqual([what, false]);
        }
    });
});
