import { describe, expect, it, vi } from "vitest";
import {
    answering,
    answeringJson,
    dropping,
    garbled,
    refusing,
    saying,
    silent,
    type Peer,
} from "../../services/support/backends";
import { pass, stopClock, turnUntil } from "./support/clock";
import { ask, openGateway, TIMEOUT_MS } from "./support/gateway";

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

    const expected = ({ status, kind, detail }: (typeof failures)[number]) => ({
        status,
        type: "application/problem+json",
        body: {
            type: `tag:chaos-shop.example,2026:problem/backend-${kind}`,
            title: expect.any(String),
            status,
            detail: expect.stringMatching(new RegExp(`^hot-deals .*${detail}`)),
            backend: "hot-deals",
        },
    });
    const soon = failures.filter(({ kind }) => kind !== "timeout").map((failure) => [failure.what, failure] as const);
    it.each(soon)("that %s fails the listing with 502, without waiting", async (_what, failure) => {
        const { gateway } = await openGateway({ hotDeals: await failure.peer() });
        stopClock();
        const { status, type, body } = await ask(gateway);
        expect({ status, type, body }).toStrictEqual(expected(failure));
    });

    const late = failures.filter(({ kind }) => kind === "timeout").map((failure) => [failure.what, failure] as const);
    it.each(late)("that %s fails the listing with 504, after the timeout", async (_what, failure) => {
        const { gateway } = await openGateway({ hotDeals: await failure.peer() });
        stopClock();
        let answered = false;
        const answer = ask(gateway).finally(() => (answered = true));
        // The timers of the other two backends end with their answers.
        await turnUntil(() => vi.getTimerCount() === 1);
        await pass(TIMEOUT_MS - 1);
        expect(answered).toBe(false);
        await pass(1);
        const { status, type, body } = await answer;
        expect({ status, type, body }).toStrictEqual(expected(failure));
    });

    it("shows clients no addresses, ports or stack traces; the log has the cause", async () => {
        const { gateway, log, toys } = await openGateway({ toys: await refusing() });
        const { text } = await ask(gateway);
        expect(text).not.toMatch(/127\.0\.0\.1|ECONN|at .*:\d+/);
        expect(text).not.toContain(new URL(toys.url).port);
        expect(JSON.stringify(log)).toContain("ECONNREFUSED");
    });

    it("ends the listing at once and aborts the calls to the others, without waiting for them", async () => {
        let aborted = false;
        const toys = await answering((_request, response) => void response.once("close", () => (aborted = true)));
        const { gateway } = await openGateway({ fashion: await silent(), toys, hotDeals: await refusing() });
        stopClock();
        const { status, body } = await ask(gateway);
        expect([status, body.backend]).toEqual([502, "hot-deals"]);
        await turnUntil(() => toys.connections() === 0 || aborted);
    });

    it("with a name that does not resolve is unreachable", async () => {
        const hotDeals: Peer = { url: "http://no-such-backend.invalid", connections: () => 0, close: () => {} };
        const { gateway } = await openGateway({ hotDeals });
        const { status, body } = await ask(gateway);
        expect([502, 504]).toContain(status);
        expect(body.backend).toBe("hot-deals");
    });
});
