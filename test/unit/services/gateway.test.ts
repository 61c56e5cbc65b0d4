import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { answering, answeringJson, dropping, list, product, refusing, silent } from "../../services/support/backends";
import { pass, stopClock, turnUntil } from "./support/clock";
import { ask, openGateway } from "./support/gateway";

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736";
const traceparent = `00-${traceId}-00f067aa0ba902b7-01`;

describe("the product listing", () => {
    it("has exactly the documented members", async () => {
        const { gateway } = await openGateway({
            toys: await answeringJson({ ...list("TOYS"), secret: 1, products: [{ ...product("TOYS"), price: 3 }] }),
        });
        const { status, body } = await ask(gateway);
        expect(status).toBe(200);
        expect(body).toStrictEqual({
            fashionResponse: list("FASHION"),
            toysResponse: list("TOYS"),
            hotDealsResponse: list("HOT_DEALS"),
            duration: expect.any(Number),
            statusFashion: "REMOTE_SERVICE",
            statusToys: "REMOTE_SERVICE",
            statusHotDeals: "REMOTE_SERVICE",
        });
        expect(Number.isInteger(body.duration) && body.duration >= 0).toBe(true);
    });

    it("calls all backends at once and says how long they took", async () => {
        const held: (() => void)[] = [];
        const holding = (category: string) =>
            answering((_request, response) => void held.push(() => response.end(JSON.stringify(list(category)))));
        const { gateway } = await openGateway({
            fashion: await holding("FASHION"),
            toys: await holding("TOYS"),
            hotDeals: await holding("HOT_DEALS"),
        });
        stopClock();
        const answer = ask(gateway);
        await turnUntil(() => held.length === 3);
        await pass(300);
        held.forEach((release) => release());
        expect((await answer).status).toBe(200);
        expect((await answer).body.duration).toBe(300);
    });

    it("opens a fresh connection to each backend for each request, because a kept one hides an isolation", async () => {
        const { gateway, hotDeals } = await openGateway();
        for (let request = 0; request < 3; request++) {
            expect((await ask(gateway)).status).toBe(200);
        }
        expect(hotDeals.connections()).toBe(3);
    });
});

describe("the gateway's health", () => {
    it("stays ready while one backend can be reached", async () => {
        const { gateway } = await openGateway({ fashion: await refusing(), toys: await silent() });
        expect(await ask(gateway, "/health/readiness")).toMatchObject({ status: 200, body: { status: "UP" } });
    });

    it("is alive but not ready, within the kubelet's timeout of 1 s, when it can reach nothing", async () => {
        const { gateway } = await openGateway({
            fashion: await refusing(),
            toys: await dropping(),
            hotDeals: await dropping(),
        });
        stopClock();
        const readiness = ask(gateway, "/health/readiness");
        await pass(999);
        expect(await readiness).toMatchObject({ status: 503, type: "application/problem+json" });
        expect(await ask(gateway, "/health/liveness")).toMatchObject({ status: 200, body: { status: "UP" } });
    });
});

describe("the gateway answers", () => {
    it("unknown paths and unsupported methods with a problem document", async () => {
        const { gateway } = await openGateway();
        expect(await ask(gateway, "/nowhere")).toMatchObject({
            status: 404,
            type: "application/problem+json",
            body: { status: 404, title: "Not Found" },
        });
        const post = await ask(gateway, "/products", { method: "POST" });
        expect(post).toMatchObject({ status: 405, type: "application/problem+json", body: { status: 405 } });
        expect(post.headers.get("allow")).toBe("GET, HEAD");
        expect((await ask(gateway, "/products", { method: "HEAD" })).status).toBe(200);
    });

    it("/orders in a shop without orders by saying how to get them", async () => {
        const { gateway } = await openGateway({}, "http://orders.invalid");
        const { status, body } = await ask(gateway, "/orders", { method: "POST", body: "{}" });
        expect(status).toBe(404);
        expect(body.detail).toContain("pulumi config set variant seven");
    });

    it.each(["/products", "/nowhere", "/metrics"])("%s with headers that limit what a browser does", async (path) => {
        const { gateway } = await openGateway();
        expect(Object.fromEntries((await ask(gateway, path)).headers)).toMatchObject({
            "content-security-policy": expect.stringMatching(/^default-src 'self'.*frame-ancestors 'none'/),
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
            "referrer-policy": "no-referrer",
        });
    });
});

describe("a request through the gateway", () => {
    it("has one id and one trace, from the client to each backend and back", async () => {
        const received: Record<string, unknown>[] = [];
        const toys = await answering(({ headers }, response: ServerResponse) => {
            received.push(headers);
            response.end(JSON.stringify(list("TOYS")));
        });
        const { gateway } = await openGateway({ toys });
        const headers = { "X-Request-Id": "my-request", traceparent, tracestate: "vendor=1" };
        const answer = await ask(gateway, "/products", { headers });
        expect(answer.headers.get("x-request-id")).toBe("my-request");
        expect(received[0]).toMatchObject({ "x-request-id": "my-request", tracestate: "vendor=1" });
        expect(received[0]!.traceparent).toMatch(new RegExp(`^00-${traceId}-(?!00f067aa0ba902b7)[\\da-f]{16}-01$`));
    });

    it("gets an id if it has none, also when the answer is a problem", async () => {
        const { gateway, log } = await openGateway({ toys: await refusing() });
        const answers = await Promise.all(["/products", "/nowhere"].map((path) => ask(gateway, path)));
        const ids = answers.map(({ headers }) => headers.get("x-request-id"));
        expect(ids).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), expect.stringMatching(/^[\da-f-]{36}$/)]);
        expect(log.find(({ backend }) => backend === "toys-bestseller")).toMatchObject({
            requestId: ids[0],
            level: 40,
            msg: "toys-bestseller refused the connection.",
        });
    });
});

describe("the gateway's metrics", () => {
    it("count requests by route and status, never by a path that a client made up", async () => {
        const { gateway } = await openGateway();
        for (const path of ["/products", "/products", "/made-up", "/products?secret=1"]) await ask(gateway, path);
        const { text } = await ask(gateway, "/metrics");
        expect(text).toContain(`http_request_duration_seconds_count{method="GET",route="/products",status="200"} 3`);
        expect(text).toContain(`http_request_duration_seconds_count{method="GET",route="none",status="404"} 1`);
        expect(text).not.toMatch(/made-up|secret/);
    });

    it("count the outcomes of calls to each backend", async () => {
        const { gateway } = await openGateway({ toys: await refusing() });
        await ask(gateway, "/products/timeout");
        const { text } = await ask(gateway, "/metrics");
        expect(text).toContain(
            `upstream_request_duration_seconds_count{backend="toys-bestseller",outcome="unreachable"} 1`,
        );
        expect(text).toContain(`upstream_request_duration_seconds_count{backend="hot-deals",outcome="ok"} 1`);
    });
});
