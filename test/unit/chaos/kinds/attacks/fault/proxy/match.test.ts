import { describe, expect, it } from "vitest";
import { probeThrough } from "../../../../../../../chaos/kinds/attacks/fault/proxy/probe";
import { samplesOf } from "../../../../../../../chaos/kinds/attacks/fault/match";
import { Caller, echoPod, httpPod, ofRun, slice, startProxy, switchingPod, target, tcpPod, timed } from "./support";

const match = { path: "/slow/*", headers: { "x-session": "mine" }, except: [{ path: "/slow/health" }] };
const withStatus = { abort: 503, match };
const counted = { requests: 0, faulted: 0, unfaultable: 0, unreachable: 0 };

/** A pod that says what it was sent: method, path and body. */
const pod = () =>
    httpPod((asked, response) => {
        let body = "";
        asked.on("data", (chunk) => (body += String(chunk)));
        asked.on("end", () => response.end(`${asked.method} ${asked.url} ${body};`));
    });
const head = (first: string, ...headers: string[]) =>
    [`${first} HTTP/1.1`, "Host: shop", ...headers, "", ""].join("\r\n");
const mine = "X-Session: mine";
const switching = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ";

describe("of the requests on one connection, only those are faulted that match:", () => {
    it("one after the other, whatever the order", async () => {
        const proxy = await startProxy(await pod(), { fault: withStatus });
        const caller = await Caller.connect(proxy.port);
        const ask = async (answer: string, request = "") => {
            caller.send(request);
            await caller.receives(answer);
        };
        await ask("GET /slow/a ;", head("GET /slow/a"));
        await ask("HTTP/1.1 503", head("GET /slow/a?b", mine));
        await ask("answers with this status.\n");
        await ask("GET /fast ;", head("GET /fast", mine));
        await ask("GET /slow/health ;", head("GET /slow/health", mine));
        await ask("HTTP/1.1 503", head("DELETE /slow/", mine));
        expect(proxy.counts()).toEqual({ ...counted, requests: 2, faulted: 2, unmatched: 3 });
    });

    it("pipelined", async () => {
        const proxy = await startProxy(await pod(), { fault: withStatus });
        const caller = await Caller.connect(proxy.port);
        caller.send(head("GET /1") + head("GET /slow/2", mine) + head("GET /3"));
        for (const answer of ["GET /1 ;", "HTTP/1.1 503", "GET /3 ;"]) await caller.receives(answer);
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, faulted: 1, unmatched: 2 });
    });

    it("with bodies of a length or in chunks, which may look like requests", async () => {
        const proxy = await startProxy(await pod(), { fault: withStatus });
        const caller = await Caller.connect(proxy.port);
        const inner = head("GET /slow/x", mine);
        caller.send(head("PUT /fast", `Content-Length: ${inner.length}`) + inner);
        await caller.receives("PUT /fast GET /slow/x HTTP/1.1");
        const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`;
        caller.send(head("POST /slow/y", mine, "Transfer-Encoding: chunked") + chunk);
        await caller.receives("HTTP/1.1 503");
        caller.send(head("POST /fast", "Transfer-Encoding: chunked") + chunk);
        await caller.receives("POST /fast GET /slow/x");
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, faulted: 1, unmatched: 2 });
    });

    it("that expect 100, which the pod sends only to those that pass", async () => {
        const proxy = await startProxy(await pod(), { fault: withStatus });
        const caller = await Caller.connect(proxy.port);
        caller.send(head("PUT /fast", "Expect: 100-continue", "Content-Length: 4"));
        await caller.receives("HTTP/1.1 100 Continue\r\n\r\n");
        caller.send("body");
        await caller.receives("PUT /fast body;");
        caller.send(head("PUT /slow/x", mine, "Expect: 100-continue", "Content-Length: 4"));
        expect(await caller.toEnd()).toMatch(/HTTP\/1.1 503 .*\r\n\r\n/s);
    });

    it("late, while others on another connection are answered at once", async () => {
        const proxy = await startProxy(await pod(), { fault: { delayMs: 400, match } });
        const [late, soon] = [await Caller.connect(proxy.port), await Caller.connect(proxy.port)];
        const tookMs = timed(() => late.send(head("GET /slow/a", mine)).receives("GET /slow/a ;"));
        expect(await timed(() => soon.send(head("GET /slow/a")).receives("GET /slow/a ;"))).toBeLessThan(300);
        expect(await tookMs).toBeGreaterThan(395);
    });
});

describe("what is no request in HTTP passes untouched, and spoils the verdict:", () => {
    it("HTTP/2 after an upgrade, beginning with the request that did not match", async () => {
        const { port } = await switchingPod(`${switching}h2c`);
        const proxy = await startProxy(port, { fault: { delayMs: 100, match } });
        const caller = await Caller.connect(proxy.port);
        caller.send(head("GET /", "Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"));
        await caller.receives("101 Switching Protocols");
        caller.send("frames");
        await caller.receives("frames");
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, unfaultable: 1, unmatched: 1 });
    });

    it("anything else", async () => {
        const proxy = await startProxy((await echoPod()).port, { fault: { delayMs: 10_000, match } });
        await (await Caller.connect(proxy.port)).send("\x16\x03\x01").receives("\x16\x03\x01");
        expect(proxy.counts()).toEqual({ ...counted, requests: 1, unfaultable: 1 });
    });
});

it("a WebSocket is the request that opens it: what follows is passed on", async () => {
    const { port } = await switchingPod(`${switching}websocket`);
    const proxy = await startProxy(port, { fault: withStatus });
    const upgrade = ["Connection: Upgrade", "Upgrade: websocket"];
    const open = await Caller.connect(proxy.port);
    await open.send(head("GET /fast", ...upgrade)).receives("101 Switching Protocols");
    const frames = head("GET /slow/x", mine);
    await open.send(frames).receives(frames);
    const refused = (await Caller.connect(proxy.port)).send(head("GET /slow/x", mine, ...upgrade));
    await refused.receives("HTTP/1.1 503");
    expect(proxy.counts()).toEqual({ ...counted, requests: 1, faulted: 1, unmatched: 1 });
});

describe("the witness asks about a request of each sort, and", () => {
    const proxied = async (uid = target) => {
        const got: string[] = [];
        const { port } = await tcpPod((socket) => socket.on("data", (chunk) => got.push(String(chunk))));
        const fault = { abort: 503, match: { ...match, method: "POST" } };
        const proxy = await startProxy(port, { witness: ["127.0.0.1"], slices: [slice(port, [uid])], fault });
        const seen = [];
        for (const { head, differs } of samplesOf(fault.match)) {
            const at = { host: "127.0.0.1", port: proxy.port };
            const { saw } = await probeThrough(at, ofRun, uid, 2_000, head);
            seen.push([differs, saw]);
        }
        return { seen, got, counts: proxy.counts() };
    };

    it("sees that only the one that matches is faulted", async () => {
        expect((await proxied()).seen).toEqual([
            [undefined, "status"],
            ["to another path", "connected"],
            ["by another method", "connected"],
            ["without x-session", "connected"],
            ["of match.except.0", "connected"],
        ]);
    });

    it("sees that none is at a pod that is no target", async () =>
        expect((await proxied("another")).seen.map(([, saw]) => saw)).toEqual(Array(5).fill("connected")));

    it("none reaches the pod, whatever its method would do there, or counts", async () => {
        const { got, counts } = await proxied();
        expect([got, counts]).toEqual([[], undefined]);
    });

    it.each(["", "no request\r\n\r\n"])("is told nothing if it sends %j", async (head) => {
        const proxy = await startProxy((await echoPod()).port, { witness: ["127.0.0.1"], fault: withStatus });
        const caller = await Caller.connect(proxy.port);
        caller.send(`${target}\n${head}`).socket.end();
        await caller.isReset();
    });
});
