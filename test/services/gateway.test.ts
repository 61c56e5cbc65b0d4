import type { ServerResponse } from "node:http";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import { answering, answeringJson, dropping, garbled, refusing, silent, type Peer } from "./support/backends";
import { bundle, runToExit, startProgram, type RunningProgram } from "./support/programs";
import { eventually } from "./support/ports";

const TIMEOUT_MS = 600;
const product = (category: string) => ({ id: "1cb000fc-4a11-4fd3-a30d-65e5eccf7d56", name: "A thing", category });
const list = (category: string) => ({ responseType: "REMOTE_SERVICE", products: [product(category)] });

let running: { close(): void }[] = [];
beforeAll(() => void bundle("gateway"));
afterEach(() => {
    running.forEach((each) => each.close());
    running = [];
});

/** A gateway before healthy backends, but for those given. */
async function startGateway(peers: { fashion?: Peer; toys?: Peer; hotDeals?: Peer } = {}) {
    const fashion = peers.fashion ?? (await answeringJson(list("FASHION")));
    const toys = peers.toys ?? (await answeringJson(list("TOYS")));
    const hotDeals = peers.hotDeals ?? (await answeringJson(list("HOT_DEALS")));
    const gateway = await startProgram("gateway", {
        FASHION_URL: fashion.url,
        TOYS_URL: toys.url,
        HOT_DEALS_URL: hotDeals.url,
        UPSTREAM_TIMEOUT_MS: String(TIMEOUT_MS),
    });
    running.push(fashion, toys, hotDeals, { close: gateway.kill });
    return { gateway, fashion, toys, hotDeals };
}

async function ask(gateway: RunningProgram, path = "/products", method = "GET") {
    const start = performance.now();
    const response = await fetch(gateway.url + path, { method });
    const text = await response.text();
    return {
        status: response.status,
        type: response.headers.get("content-type"),
        headers: response.headers,
        text,
        body: text === "" ? undefined : JSON.parse(text),
        durationMs: performance.now() - start,
    };
}

describe("the product listing", () => {
    it("has exactly the documented members, and no others", async () => {
        const { gateway } = await startGateway({
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

    it("asks the backends at once, not one after another", async () => {
        const slow = (category: string) =>
            answering((_request, response) => {
                setTimeout(() => response.end(JSON.stringify(list(category))), 300);
            });
        const { gateway } = await startGateway({
            fashion: await slow("FASHION"), toys: await slow("TOYS"), hotDeals: await slow("HOT_DEALS"),
        });
        const { status, body } = await ask(gateway);
        expect(status).toBe(200);
        expect(body.duration).toBeGreaterThanOrEqual(295);
        expect(body.duration).toBeLessThan(TIMEOUT_MS);
    });

    it("opens a fresh connection to each backend for each request, lest a kept one hide an isolation", async () => {
        const { gateway, hotDeals } = await startGateway();
        for (let request = 0; request < 3; request++) {
            expect((await ask(gateway)).status).toBe(200);
        }
        expect(hotDeals.connections()).toBe(3);
    });
});

describe("a backend that fails", () => {
    const failures = [
        { what: "refuses connections", peer: refusing, status: 502, kind: "unreachable", detail: "refused the connection" },
        { what: "accepts and never answers", peer: silent, status: 504, kind: "timeout", detail: `within ${TIMEOUT_MS} ms` },
        { what: "is behind a firewall that drops", peer: dropping, status: 504, kind: "timeout", detail: `within ${TIMEOUT_MS} ms` },
        { what: "speaks no HTTP", peer: garbled, status: 502, kind: "bad-answer", detail: "not HTTP" },
        { what: "answers with status 500", peer: () => answeringJson({}, 500), status: 502, kind: "bad-answer", detail: "status 500" },
        { what: "answers with a redirection", peer: () => answeringJson({}, 302), status: 502, kind: "bad-answer", detail: "status 302" },
        { what: "answers with no JSON", peer: () => answering((_q, r) => void r.end("<html>")), status: 502, kind: "bad-answer", detail: "not a product list" },
        { what: "answers with other JSON", peer: () => answeringJson({ products: 3 }), status: 502, kind: "bad-answer", detail: "not a product list" },
        { what: "answers without end", peer: () => answering((_q, r) => void setInterval(() => r.write("x".repeat(300_000)), 10).unref()), status: 502, kind: "bad-answer", detail: "more than a product list" },
        { what: "begins an answer and stops", peer: () => answering((_q, r) => void r.write("{")), status: 504, kind: "timeout", detail: `within ${TIMEOUT_MS} ms` },
        { what: "hangs up in the middle of an answer", peer: () => answering((_q, r) => { r.writeHead(200, { "Content-Length": "50" }); r.write("{", () => r.destroy()); }), status: 502, kind: "unreachable", detail: "closed the connection" },
    ];

    const table = failures.map((failure) => [failure.what, failure.status, failure] as const);
    it.each(table)("that %s fails the listing with %i", async (_what, status, { peer, kind, detail }) => {
        const hotDeals = await peer();
        const { gateway } = await startGateway({ hotDeals });
        const answer = await ask(gateway);
        expect(answer).toMatchObject({ status, type: "application/problem+json" });
        expect(answer.body).toStrictEqual({
            type: `tag:chaos-shop.example,2026:problem/backend-${kind}`,
            title: expect.any(String),
            status,
            detail: expect.stringContaining(detail),
            backend: "hot-deals",
        });
        expect(answer.body.detail).toMatch(/^hot-deals /);
        expect(answer.durationMs).toBeLessThan(status === 504 ? TIMEOUT_MS + 250 : 400);
    });

    it("tells no client about addresses, ports or stack traces, but the log about the cause", async () => {
        const { gateway, toys } = await startGateway({ toys: await refusing() });
        const { text } = await ask(gateway);
        expect(text).not.toMatch(/127\.0\.0\.1|ECONN|at .*:\d+/);
        expect(text).not.toContain(new URL(toys.url).port);
        await eventually("the cause is in the log", () => gateway.output().includes("ECONNREFUSED"));
    });

    it("ends the listing at once, and the exchanges with the others, without waiting for anybody", async () => {
        let cutShort = false;
        const toys = await answering((_request, response) => void response.once("close", () => (cutShort = true)));
        const { gateway } = await startGateway({ fashion: await silent(), toys, hotDeals: await refusing() });
        const { status, body, durationMs } = await ask(gateway);
        expect([status, body.backend]).toEqual([502, "hot-deals"]);
        expect(durationMs).toBeLessThan(TIMEOUT_MS - 200);
        await eventually("toys sees its exchange end", () => toys.connections() === 0 || cutShort, TIMEOUT_MS - 200);
    });

    it("with a name that does not resolve is unreachable", async () => {
        const hotDeals: Peer = { url: "http://no-such-backend.invalid", connections: () => 0, close: () => {} };
        const { gateway } = await startGateway({ hotDeals });
        const { status, body } = await ask(gateway);
        expect([502, 504]).toContain(status);
        expect(body.backend).toBe("hot-deals");
    });
});

describe("the gateway's health", () => {
    it("stays ready while a backend can be reached, though others cannot", async () => {
        const { gateway } = await startGateway({ fashion: await refusing(), toys: await silent() });
        expect(await ask(gateway, "/health/readiness")).toMatchObject({ status: 200, body: { status: "UP" } });
    });

    it("is alive but not ready, within a kubelet's patience, when nothing at all can be reached", async () => {
        const { gateway } = await startGateway({
            fashion: await refusing(), toys: await dropping(), hotDeals: await dropping(),
        });
        const readiness = await ask(gateway, "/health/readiness");
        expect(readiness).toMatchObject({ status: 503, type: "application/problem+json" });
        expect(readiness.durationMs).toBeLessThan(1000);
        expect(await ask(gateway, "/health/liveness")).toMatchObject({ status: 200, body: { status: "UP" } });
    });
});

describe("anything else that is asked of the gateway", () => {
    it("is answered with a problem document", async () => {
        const { gateway } = await startGateway();
        expect(await ask(gateway, "/nowhere")).toMatchObject({
            status: 404, type: "application/problem+json", body: { status: 404, title: "Not Found" },
        });
        const post = await ask(gateway, "/products", "POST");
        expect(post).toMatchObject({ status: 405, type: "application/problem+json", body: { status: 405 } });
        expect(post.headers.get("allow")).toBe("GET, HEAD");
        expect((await ask(gateway, "/products", "HEAD")).status).toBe(200);
    });
});

describe("a gateway whose port is taken", () => {
    it("exits with 1 and says so", async () => {
        const { gateway, fashion: peer } = await startGateway();
        const { code, output } = await runToExit("gateway", {
            PORT: new URL(gateway.url).port, FASHION_URL: peer.url, TOYS_URL: peer.url, HOT_DEALS_URL: peer.url,
        });
        expect(code).toBe(1);
        expect(output).toMatch(/"level":"fatal".*address already in use/);
    });
});

describe("a gateway that is told to stop", () => {
    it("finishes what is in flight, accepts nothing new, and exits with 0", async () => {
        const held: ServerResponse[] = [];
        const toys = await answering((_request, response) => void held.push(response));
        const { gateway } = await startGateway({ toys });
        const inFlight = ask(gateway);
        await eventually("toys is asked", () => held.length === 1);
        const stopped = gateway.stop();
        await eventually("it refuses connections", () => fetch(gateway.url).then(() => false, () => true), 1000);
        held[0]!.end(JSON.stringify(list("TOYS")));
        expect((await inFlight).status).toBe(200);
        const { code, durationMs } = await stopped;
        expect(code).toBe(0);
        expect(durationMs).toBeLessThan(1000);
    });

    it("does not wait for clients that keep a connection alive", async () => {
        const { gateway } = await startGateway();
        await ask(gateway);
        const { code, durationMs } = await gateway.stop();
        expect(code).toBe(0);
        expect(durationMs).toBeLessThan(500);
    });
});
