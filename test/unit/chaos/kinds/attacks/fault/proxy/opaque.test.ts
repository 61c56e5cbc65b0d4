import fc from "fast-check";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { local, until } from "../../../../../../support/until";
import { Caller, echoPod, httpPod, slice, startProxy, target, tcpPod } from "./support";

describe("what is not HTTP/1.x in clear text is passed on as it is", () => {
    it("if the server speaks first: its bytes do not wait for the caller's", async () => {
        const pod = await tcpPod((socket) => {
            socket.write("220 mail.example ESMTP\r\n");
            socket.pipe(socket);
        });
        const proxy = await startProxy(pod.port);
        const caller = await Caller.connect(proxy.port);
        await caller.receives("220 mail.example ESMTP\r\n");
        caller.send("GET / HTTP/1.1", "", "");
        await caller.receives("GET / HTTP/1.1\r\n\r\n");
        expect(proxy.counts()).toMatchObject({ requests: 1 });
    });

    it.each<[string, string]>([
        ["TLS", "\x16\x03\x01\x02\x00\x01\x00"],
        ["PostgreSQL", "\x00\x00\x00\x08\x04\xd2\x16/"],
        ["Redis with a command that is a method's, too", "GET key\r\n"],
        ["a client that says a few letters and waits", "HELLO"],
        ["a request of HTTP/0.9", "GET /\r\n"],
        ["empty lines", "\r\n\r\n"],
    ])("%s", async (_, bytes) => {
        const pod = await echoPod();
        const proxy = await startProxy(pod.port, { fault: { abort: 503 } });
        const caller = (await Caller.connect(proxy.port)).send(bytes);
        // Empty lines may come before a request. They are passed on when it is clear that there is none.
        if (bytes.trim() === "") caller.socket.end();
        await caller.receives(bytes);
        expect(proxy.counts()).toEqual({ requests: 1, faulted: 0, unfaultable: 1, unreachable: 0 });
    });

    it("half-closed ends included", async () => {
        const pod = await tcpPod((socket) => {
            let got = "";
            socket.on("data", (chunk) => (got += String(chunk))).on("end", () => socket.end(`sum of ${got}`));
        });
        const proxy = await startProxy(pod.port);
        const caller = (await Caller.connect(proxy.port)).send("1+2");
        caller.socket.end();
        expect(await caller.toEnd()).toBe("sum of 1+2");
        const silent = await Caller.connect(proxy.port);
        silent.socket.end();
        expect(await silent.toEnd()).toBe("sum of ");

        const farewell = await tcpPod((socket) => socket.end("bye"));
        const other = await Caller.connect((await startProxy(farewell.port)).port);
        expect(await other.toEnd()).toBe("bye");
        const [socket] = farewell.sockets as [Socket];
        other.send("still here");
        expect(String((await once(socket, "data"))[0])).toBe("still here");
    });

    it.each<[string, (socket: Socket) => unknown, boolean]>([
        ["a reset", (socket) => socket.resetAndDestroy(), true],
        ["an end", (socket) => socket.end(), false],
    ])("%s of either side, too", async (_, leave, isReset) => {
        const pod = await tcpPod((socket) => socket.write("hello"));
        const proxy = await startProxy(pod.port);
        const left = await Caller.connect(proxy.port);
        await left.receives("hello");
        leave(pod.sockets[0]!);
        await left.toEnd();
        expect(left.error).toBe(isReset ? "ECONNRESET" : undefined);

        const leaving = await Caller.connect(proxy.port);
        await leaving.receives("hello");
        const podSide = new Caller(pod.sockets[1]!);
        leave(leaving.socket);
        await podSide.toEnd();
        expect(podSide.error).toBe(isReset ? "ECONNRESET" : undefined);
    });

    it("as a property: bytes come out as they went in, however they are cut, and both ways at once", async () => {
        const pod = await echoPod();
        const proxy = await startProxy(pod.port);
        const bytes = fc.array(fc.uint8Array({ minLength: 1, maxLength: 100_000, size: "max" }), { maxLength: 8 });
        await fc.assert(
            fc.asyncProperty(bytes, async (chunks) => {
                const caller = await Caller.connect(proxy.port);
                for (const chunk of chunks) {
                    if (!caller.socket.write(chunk)) await once(caller.socket, "drain");
                }
                caller.socket.end();
                expect(hashOf(Buffer.from(await caller.toEnd(), "latin1"))).toBe(hashOf(Buffer.concat(chunks)));
            }),
            { numRuns: 20 },
        );
    });
});

describe("bodies of HTTP, as a property,", () => {
    it("come out as they went in, in chunks and with a length", async () => {
        const pod = await httpPod((asked, response) => {
            const { "content-length": length } = asked.headers;
            response.writeHead(200, length === undefined ? {} : { "content-length": length });
            asked.pipe(response);
        });
        const proxy = await startProxy(pod);
        const body = fc.uint8Array({ maxLength: 300_000, size: "max" });
        await fc.assert(
            fc.asyncProperty(body, fc.boolean(), fc.nat(70_000), async (bytes, chunked, step) => {
                const parts = (function* () {
                    for (let at = 0; at < bytes.length; at += step + 1) yield bytes.subarray(at, at + step + 1);
                })();
                const answer = await fetch(proxy.url, {
                    method: "POST",
                    body: chunked && bytes.length < 1_000 * (step + 1) ? (ReadableStream as any).from(parts) : bytes,
                    duplex: "half",
                });
                expect(hashOf(Buffer.from(await answer.arrayBuffer()))).toBe(hashOf(bytes));
            }),
            { numRuns: 20 },
        );
        expect(proxy.counts().requests).toBeGreaterThanOrEqual(20);
    });
});

describe("a fault meets the whole connection:", () => {
    it("a delay holds the bytes of both directions, and no more of them than 64 KiB and a read", async () => {
        const pod = await tcpPod((socket) => {
            socket.write("hello");
            socket.pipe(socket);
        });
        const proxy = await startProxy(pod.port, { fault: { delayMs: 200 } });
        const begun = performance.now();
        const caller = (await Caller.connect(proxy.port)).send("\x00caller");
        await caller.receives("hello\x00caller");
        const first = performance.now() - begun;
        expect(first).toBeGreaterThan(195);
        caller.send("again");
        await caller.receives("again");
        expect(performance.now() - begun - first).toBeLessThan(150);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1 });
    });

    it("a reset, after the delay", async () => {
        const pod = await echoPod();
        const proxy = await startProxy(pod.port, { fault: { delayMs: 100, abort: "reset" } });
        const begun = performance.now();
        await (await Caller.connect(proxy.port)).send("\x00").isReset();
        expect(performance.now() - begun).toBeGreaterThan(95);
    });

    it("a hang: nothing comes until the caller leaves", async () => {
        const pod = await tcpPod((socket) => socket.write("hello"));
        const proxy = await startProxy(pod.port, { fault: { abort: "hang" } });
        const caller = await Caller.connect(proxy.port);
        caller.socket.write(randomBytes(500_000));
        await sleep(200);
        expect([caller.received, caller.closed, caller.ended]).toEqual(["", false, false]);
        caller.socket.end();
        await until("the connection is closed", () => caller.closed, local);
    });

    it("only at the chosen pods, and only if the dice hit", async () => {
        const pod = await echoPod();
        const throws = [0.29, 0.3, 0.99, 0];
        const random = () => throws.shift()!;
        const proxy = await startProxy(pod.port, { fault: { abort: "reset", percentage: 30 }, random });
        await (await Caller.connect(proxy.port)).send("\x00").isReset();
        for (let left = 2; left > 0; left--) await (await Caller.connect(proxy.port)).send("\x00").receives("\x00");
        proxy.pods.update([slice(pod.port, ["another"])]);
        await (await Caller.connect(proxy.port)).send("\x00").receives("\x00");
        expect(proxy.counts(target)).toMatchObject({ requests: 3, faulted: 1 });
        expect(proxy.counts("another")).toMatchObject({ requests: 1, faulted: 0 });
    });
});

const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
