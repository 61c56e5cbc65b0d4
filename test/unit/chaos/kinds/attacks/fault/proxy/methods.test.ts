import { expect, it } from "vitest";
import { Caller, startProxy, tcpPod, timed } from "./support";

const answering = (socket: import("node:net").Socket) =>
    socket.on("data", () => socket.write("HTTP/1.1 200 Banned\r\nContent-Length: 0\r\n\r\n"));

it.each(["BAN", "INVALIDATE", "QUERY", "ban", "x-Pu_rge"])("a request by %s is one like others", async (method) => {
    const { port } = await tcpPod(answering);
    const slow = await startProxy(port, { fault: { delayMs: 300, match: { method: "GET" } } });
    const caller = await Caller.connect(slow.port);
    const tookMs = await timed(async () => {
        await caller.send(`${method} /api/.* HTTP/1.1`, "Host: a", "", "").receives("200 Banned");
        await caller.send(`${method} /again HTTP/1.1`, "Host: a", "", "").receives("200 Banned");
    });
    expect(tookMs).toBeLessThan(300);
    expect(slow.counts()).toMatchObject({ unmatched: 2, requests: 0, unfaultable: 0 });

    const failing = await startProxy(port, { fault: { abort: 503, match: { method } } });
    const other = await Caller.connect(failing.port);
    await other.send(`${method} / HTTP/1.1`, "Host: a", "", "").receives("HTTP/1.1 503");
    expect(failing.counts()).toMatchObject({ requests: 1, faulted: 1, unfaultable: 0 });
});

it("a client of another protocol, which waits for an answer after a word, has it within a second", async () => {
    const { port } = await tcpPod((socket) => socket.once("data", () => socket.end("imok")));
    const { port: proxied } = await startProxy(port);
    const caller = await Caller.connect(proxied);
    expect(await timed(() => caller.send("ruok").receives("imok"))).toBeLessThan(1_000);
});

it("bytes that never have a line are passed on, however many they are", async () => {
    const { port } = await tcpPod((socket) => {
        let seen = 0;
        socket.on("data", ({ length }) => (seen += length) === 100_001 && socket.end("all"));
    });
    const caller = await Caller.connect((await startProxy(port)).port);
    caller.socket.write(`b ${"a".repeat(99_999)}`);
    await caller.receives("all");
});
