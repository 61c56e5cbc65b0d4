import { describe, expect, it } from "vitest";
import { answering, answeringJson, dropping, garbled, refusing, saying, silent, type Peer } from "./support/backends";
import { ask, startGateway, TIMEOUT_MS } from "./support/gateway";
import { eventually } from "./support/ports";

describe("a backend", () => {
    const failures = [
        {
            what: "refuses connections",
            peer: refusing,
            status: 502,
            kind: "unreachable",
            detail: "refused the connection",
        },
        {
            what: "accepts and never answers",
            peer: silent,
            status: 504,
            kind: "timeout",
            detail: `within ${TIMEOUT_MS} ms`,
        },
        {
            what: "is behind a firewall that drops",
            peer: dropping,
            status: 504,
            kind: "timeout",
            detail: `within ${TIMEOUT_MS} ms`,
        },
        {
            what: "speaks no HTTP",
            peer: garbled,
            status: 502,
            kind: "bad-answer",
            detail: "not HTTP",
        },
        {
            what: "asks for another protocol",
            peer: () => saying("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n"),
            status: 502,
            kind: "bad-answer",
            detail: "without an answer",
        },
        {
            what: "answers with status 500",
            peer: () => answeringJson({}, 500),
            status: 502,
            kind: "bad-answer",
            detail: "status 500",
        },
        {
            what: "answers with a redirection",
            peer: () => answeringJson({}, 302),
            status: 502,
            kind: "bad-answer",
            detail: "status 302",
        },
        {
            what: "answers with no JSON",
            peer: () => answering((_q, r) => void r.end("<html>")),
            status: 502,
            kind: "bad-answer",
            detail: "not a product list",
        },
        {
            what: "answers with other JSON",
            peer: () => answeringJson({ products: 3 }),
            status: 502,
            kind: "bad-answer",
            detail: "not a product list",
        },
        {
            what: "answers without end",
            peer: () => answering((_q, r) => void setInterval(() => r.write("x".repeat(300_000)), 10).unref()),
            status: 502,
            kind: "bad-answer",
            detail: "more than 1048576 bytes",
        },
        {
            what: "begins an answer and stops",
            peer: () => answering((_q, r) => void r.write("{")),
            status: 504,
            kind: "timeout",
            detail: `within ${TIMEOUT_MS} ms`,
        },
        {
            what: "hangs up in the middle of an answer",
            peer: () =>
                answering((_q, r) => {
                    r.writeHead(200, { "Content-Length": "50" });
                    r.write("{", () => r.destroy());
                }),
            status: 502,
            kind: "unreachable",
            detail: "closed the connection",
        },
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
        expect(answer.durationMs).toBeLessThan(status === 504 ? TIMEOUT_MS + 250 : TIMEOUT_MS);
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
