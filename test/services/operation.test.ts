import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { describeOnPostgres, READER_PASSWORD, TestDatabase } from "./support/database";
import { answering, refusing } from "./support/backends";
import { list, startGateway } from "./support/gateway";
import { eventually } from "./support/ports";
import type { RunningProgram } from "./support/programs";
import { startShop, type RunningShop } from "./support/shop";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

/** The lines of a program's log; each must be a JSON object. */
const linesOf = (program: RunningProgram) =>
    program
        .output()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("a request's way through the shop", () => {
    it("bears one id and one trace, from the client to each backend and back", async () => {
        const received: Record<string, unknown>[] = [];
        const toys = await answering(({ headers }, response) => {
            received.push(headers);
            response.end(JSON.stringify(list("TOYS")));
        });
        const { gateway } = await startGateway({ toys });
        const headers = { "X-Request-Id": "my-request", traceparent, tracestate: "vendor=1" };
        const response = await fetch(`${gateway.url}/products`, { headers });
        expect(response.headers.get("x-request-id")).toBe("my-request");
        expect(received[0]).toMatchObject({ "x-request-id": "my-request", tracestate: "vendor=1" });
        expect(received[0]!.traceparent).toMatch(new RegExp(`^00-${traceId}-(?!00f067aa0ba902b7)[\\da-f]{16}-01$`));
    });

    it("is given an id where it came without one, which a problem's answer bears as well", async () => {
        const { gateway } = await startGateway({ toys: await refusing() });
        const ids = await Promise.all(
            ["/products", "/nowhere"].map(async (path) =>
                (await fetch(gateway.url + path)).headers.get("x-request-id"),
            ),
        );
        expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/)]);
        await eventually("the log tells of it", () => gateway.output().includes("refused the connection"));
        expect(linesOf(gateway).find(({ backend }) => backend === "toys-bestseller")).toMatchObject({
            requestId: ids[0],
            level: "warn",
        });
    });
});

describe("an answer of the gateway", () => {
    it.each(["/products", "/nowhere", "/metrics"])(
        "at %s lets a browser do no more with it than it must",
        async (path) => {
            const { gateway } = await startGateway();
            const { headers } = await fetch(gateway.url + path);
            expect(Object.fromEntries(headers)).toMatchObject({
                "content-security-policy": expect.stringMatching(/^default-src 'self'.*frame-ancestors 'none'/),
                "x-content-type-options": "nosniff",
                "x-frame-options": "DENY",
                "referrer-policy": "no-referrer",
            });
        },
    );
});

describe("the gateway's metrics", () => {
    const metricsOf = async ({ url }: RunningProgram) => (await fetch(`${url}/metrics`)).text();

    it("count requests by route and status, and never by a path that somebody made up", async () => {
        const { gateway } = await startGateway();
        for (const path of ["/products", "/products", "/made-up", "/products?secret=1"]) {
            await fetch(gateway.url + path);
        }
        const shown = await metricsOf(gateway);
        expect(shown).toContain(`http_request_duration_seconds_count{method="GET",route="/products",status="200"} 3`);
        expect(shown).toContain(`http_request_duration_seconds_count{method="GET",route="none",status="404"} 1`);
        expect(shown).not.toMatch(/made-up|secret/);
    });

    it("count what became of asking each backend", async () => {
        const { gateway } = await startGateway({ toys: await refusing() });
        await fetch(`${gateway.url}/products/timeout`);
        const shown = await metricsOf(gateway);
        expect(shown).toContain(
            `upstream_request_duration_seconds_count{backend="toys-bestseller",outcome="unreachable"} 1`,
        );
        expect(shown).toContain(`upstream_request_duration_seconds_count{backend="hot-deals",outcome="ok"} 1`);
    });
});

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
        const told = (program: RunningProgram) =>
            linesOf(program).find((line) => line.requestId === "followed" && line.msg === "answered");
        await eventually("both tell of it", () => told(gateway) !== undefined && told(catalogue) !== undefined);
        for (const program of [gateway, catalogue]) {
            expect(told(program)).toMatchObject({
                traceId,
                method: "GET",
                path: "/products",
                status: 200,
                durationMs: expect.any(Number),
            });
        }
    });

    it("let no secret into a log or a metric, whatever goes wrong", async () => {
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
        await eventually(
            "the catalogue has forgotten its list",
            async () => (await fetch(`${catalogue.url}/products`)).status === 503,
        );
        await askAll();
        await database.start();
        const metrics = await Promise.all(
            [gateway, catalogue].map(async ({ url }) => (await fetch(`${url}/metrics`)).text()),
        );
        const seen = [gateway.output(), catalogue.output(), ...metrics].join("\n");
        expect(seen).toContain("no products");
        for (const [what, secret] of Object.entries(secrets)) {
            expect([what, seen.includes(secret)]).toEqual([what, false]);
        }
    });
});
