import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { newTraceparent } from "../../../../../../../chaos/values/trace-mark";
import { local, until } from "../../../../../../support/until";
import { Caller, echoPod, get, httpPod, ofRun, startProxy, tcpPod, timed } from "./support";

const post = (body: string) => ["POST / HTTP/1.1", "Host: shop", `Content-Length: ${body.length}`, "", body];

/** A pod that answers with so many bytes of body, in chunks or with a length; and what it was asked. */
async function longPod(bytes: number, chunked = false) {
    const asked: string[] = [];
    const port = await httpPod((request, response) => {
        let body = "";
        request
            .on("data", (chunk) => (body += String(chunk)))
            .on("end", () => {
                asked.push(body);
                if (!chunked) response.setHeader("content-length", bytes);
                response.write("x".repeat(bytes / 2));
                response.end("x".repeat(bytes / 2));
            });
    });
    return { port, asked };
}

describe("bytes per second", () => {
    it.each([
        ["with a length", false],
        ["in chunks", true],
    ])("slow an answer %s, which comes whole, and the next one on the connection, too", async (_, chunked) => {
        const { port } = await longPod(2_000, chunked);
        const proxy = await startProxy(port, { fault: { bytesPerSecond: 10_000 } });
        for (let round = 0; round < 2; round++) {
            const begun = performance.now();
            expect(await (await fetch(proxy.url)).text()).toBe("x".repeat(2_000));
            expect(performance.now() - begun).toBeGreaterThan(195);
        }
        expect(proxy.counts()).toMatchObject({ requests: 2, faulted: 2, throttled: 2 });
    });

    it("leave alone what is shorter than somebody would notice", async () => {
        const { port } = await longPod(100);
        const proxy = await startProxy(port, { fault: { bytesPerSecond: 1_000_000 } });
        await fetch(proxy.url).then((response) => response.text());
        expect(proxy.counts()).toEqual({ requests: 1, faulted: 0, unfaultable: 0, unreachable: 0 });
    });

    it("of an upload slow the request, and not its answer", async () => {
        const { port, asked } = await longPod(50_000);
        const proxy = await startProxy(port, { fault: { bytesPerSecond: 10_000, stream: "upstream" } });
        const caller = await Caller.connect(proxy.port);
        const tookMs = await timed(() => caller.send(...post("b".repeat(2_000))).receives("x".repeat(50_000)));
        expect(tookMs).toBeGreaterThan(195);
        expect(tookMs).toBeLessThan(1_500);
        expect(asked).toEqual(["b".repeat(2_000)]);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, throttled: 1 });
    });

    it("slow what is not HTTP, one way only", async () => {
        const pod = await echoPod();
        const proxy = await startProxy(pod.port, { fault: { bytesPerSecond: 5_000 } });
        const caller = await Caller.connect(proxy.port);
        const sent = `\x00${"y".repeat(999)}`;
        expect(await timed(() => caller.send(sent).receives(sent))).toBeGreaterThan(195);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, throttled: 1 });
    });

    it("follow the pulse in a connection that stays open, also one of before", async () => {
        const pod = await echoPod();
        const pulse = { onMs: 400, offMs: 60_000 };
        const proxy = await startProxy(pod.port, { fault: { bytesPerSecond: 100, pulse } });
        const caller = await Caller.connect(proxy.port);
        await caller.send("\x00early").receives("\x00early");
        proxy.answersCount();
        const sent = "z".repeat(10_000);
        const tookMs = await timed(() => caller.send(sent).receives(sent));
        expect(tookMs).toBeGreaterThan(350);
        expect(tookMs).toBeLessThan(5_000);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, throttled: 1, paused: 1 });
    });

    it("end with the fault: the rest comes at once", async () => {
        const { port } = await longPod(10_000);
        const proxy = await startProxy(port, { fault: { bytesPerSecond: 100 } });
        const caller = (await Caller.connect(proxy.port)).send(...get);
        await sleep(150);
        void proxy.stop({ acceptMs: 0, closeMs: 5_000 });
        expect(await timed(() => caller.receives("x".repeat(10_000)))).toBeLessThan(2_000);
    });

    it("hold little of a long answer in the proxy", async () => {
        const pod = await tcpPod((socket) => socket.once("data", () => socket.write(Buffer.alloc(2_000_000))));
        const proxy = await startProxy(pod.port, { fault: { bytesPerSecond: 1_000 }, limits: { heldBytes: 400_000 } });
        const callers = await Promise.all([1, 2].map(() => Caller.connect(proxy.port)));
        for (const caller of callers) caller.send("\x00");
        await until("something comes", () => callers.every(({ received }) => received.length > 0), local);
        await sleep(300);
        expect(proxy.refused()).toBe(0);
    });
});

describe("a cut", () => {
    it("lets so many bytes of an answer through, with its head, and resets the connection", async () => {
        const { port, asked } = await longPod(2_000);
        const proxy = await startProxy(port, { fault: { cutAfter: 500 } });
        const caller = (await Caller.connect(proxy.port)).send(...get);
        await caller.isReset();
        expect(caller.received).toHaveLength(500);
        expect(asked).toHaveLength(1);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, cut: 1 });
    });

    it("of an answer that is not longer leaves it alone", async () => {
        const { port } = await longPod(100);
        const proxy = await startProxy(port, { fault: { cutAfter: 5_000 } });
        expect(await (await fetch(proxy.url)).text()).toBe("x".repeat(100));
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 0 });
    });

    it("after 0 bytes has the pod do its work, and the caller learn nothing of it", async () => {
        const { port, asked } = await longPod(100);
        const proxy = await startProxy(port, { fault: { cutAfter: 0 } });
        const caller = (await Caller.connect(proxy.port)).send(...post("order"));
        await caller.isReset();
        expect([caller.received, asked]).toEqual(["", ["order"]]);
    });

    it("of an upload resets both ends, and the pod has not all of it", async () => {
        const { port, asked } = await longPod(100);
        const proxy = await startProxy(port, { fault: { cutAfter: 1_000, stream: "upstream" } });
        await (await Caller.connect(proxy.port)).send(...post("b".repeat(5_000))).isReset();
        expect(asked).toEqual([]);
        expect(proxy.counts()).toMatchObject({ requests: 1, faulted: 1, cut: 1 });
    });

    it("of what is not HTTP counts all bytes of the connection", async () => {
        const pod = await echoPod();
        const proxy = await startProxy(pod.port, { fault: { cutAfter: 8 } });
        const caller = await Caller.connect(proxy.port);
        await caller.send("\x00five").receives("\x00five");
        await caller.send("five!").isReset();
        expect(caller.received).toBe("fiv");
    });

    it("is of one request in so many, and requests of a check among them are known", async () => {
        const { port } = await longPod(2_000);
        const proxy = await startProxy(port, { fault: { cutAfter: 500, every: 2 } });
        const asked = async () => {
            const headers = { traceparent: newTraceparent(ofRun.pass).traceparent };
            return fetch(proxy.url, { headers }).then((response) => response.text());
        };
        expect(await asked()).toHaveLength(2_000);
        await expect(asked()).rejects.toThrow();
        expect(proxy.counts()).toMatchObject({ requests: 2, faulted: 1, cut: 1, ofChecks: 2, ofChecksFaulted: 1 });
    });
});
