import type { ServerResponse } from "node:http";
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
    const timedOut = `within ${TIMEOUT_MS} ms`;
    const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: other\r\n\r\n";
    const endless = (_: unknown, response: ServerResponse) =>
        void setInterval(() => response.write("x".repeat(300_000)), 10).unref();
    const hangingUp = (_: unknown, response: ServerResponse) => {
        response.writeHead(200, { "Content-Length": "50" });
        response.write("{", () => response.destroy());
    };
    type Failure = [what: string, peer: () => Promise<Peer>, status: number, kind: string, detail: string];

    const shown = ({ status, type, body }: Awaited<ReturnType<typeof ask>>) => ({ status, type, body });
    const expected = (status: number, kind: string, detail: string) => ({
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

    it.each<Failure>([
        ["refuses connections", refusing, 502, "unreachable", "refused the connection"],
        ["speaks no HTTP", garbled, 502, "bad-answer", "not HTTP"],
        ["asks for another protocol", () => saying(switching), 502, "bad-answer", "without an answer"],
        ["answers with status 500", () => answeringJson({}, 500), 502, "bad-answer", "status 500"],
        ["answers with a redirection", () => answeringJson({}, 302), 502, "bad-answer", "status 302"],
        ["answers with no JSON", () => answering((_, r) => r.end("<html>")), 502, "bad-answer", "not a product list"],
        ["answers with other JSON", () => answeringJson({ products: 3 }), 502, "bad-answer", "not a product list"],
        ["answers without end", () => answering(endless), 502, "bad-answer", "more than 1048576 bytes"],
        ["hangs up in its answer", () => answering(hangingUp), 502, "unreachable", "closed the connection"],
    ])("that %s fails the listing, without waiting", async (_what, peer, status, kind, detail) => {
        const { gateway } = await openGateway({ hotDeals: await peer() });
        stopClock();
        expect(shown(await ask(gateway))).toStrictEqual(expected(status, kind, detail));
    });

    it.each<Failure>([
        ["accepts and never answers", silent, 504, "timeout", timedOut],
        ["is behind a firewall that drops", dropping, 504, "timeout", timedOut],
        ["begins an answer and stops", () => answering((_, r) => void r.write("{")), 504, "timeout", timedOut],
    ])("that %s fails the listing, after the timeout", async (_what, peer, status, kind, detail) => {
        const { gateway } = await openGateway({ hotDeals: await peer() });
        stopClock();
        let answered = false;
        const answer = ask(gateway).finally(() => (answered = true));
        // The timers of the other two backends end with their answers.
        await turnUntil(() => vi.getTimerCount() === 1);
        await pass(TIMEOUT_MS - 1);
        expect(answered).toBe(false);
        await pass(1);
        expect(shown(await answer)).toStrictEqual(expected(status, kind, detail));
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
