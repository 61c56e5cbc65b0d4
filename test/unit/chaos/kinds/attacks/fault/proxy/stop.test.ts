import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { local, until } from "../../../../../../support/until";
import { Caller, echoPod, get, httpPod, startProxy } from "./support";

const answering = () => httpPod((_, response) => response.setHeader("Keep-Alive", "timeout=99").end("answer"));

describe("from the moment of SIGTERM", () => {
    it("nothing is faulted: what is delayed is passed on at once, without the abort after it", async () => {
        const http = await startProxy(await answering(), { fault: { delayMs: 60_000, abort: 503 } });
        const opaque = await startProxy((await echoPod()).port, { fault: { delayMs: 60_000, abort: "reset" } });
        const asking = (await Caller.connect(http.port)).send(...get);
        const piped = (await Caller.connect(opaque.port)).send("\x00bytes");
        await until("both wait", () => http.counts() && opaque.counts(), local);
        void http.stop({ acceptMs: 300 });
        void opaque.stop({ acceptMs: 300 });
        await asking.receives("200 OK");
        await asking.receives("answer");
        await piped.receives("\x00bytes");
        await (await Caller.connect(http.port)).send(...get).receives("200 OK");
    });

    it("what hangs is reset", async () => {
        const proxy = await startProxy(await answering(), { fault: { abort: "hang" } });
        const caller = (await Caller.connect(proxy.port)).send(...get);
        await until("it hangs", () => proxy.counts(), local);
        void proxy.stop({ acceptMs: 300 });
        await caller.isReset();
    });

    it("answers say `Connection: close`, and their connections end", async () => {
        const proxy = await startProxy(await answering());
        const kept = (await Caller.connect(proxy.port)).send(...get);
        await kept.receives("answer");
        void proxy.stop({ acceptMs: 300 });
        kept.send(...get);
        const answer = await kept.toEnd();
        expect(answer).toMatch(/^HTTP\/1.1 200 OK\r\nConnection: close\r\n/);
        expect(answer).not.toMatch(/keep-alive/i);
        expect(answer.endsWith("answer")).toBe(true);
        expect(kept.error).toBeUndefined();
    });

    it("new connections are accepted for a while, then no more", async () => {
        const proxy = await startProxy(await answering());
        const stopped = proxy.stop({ acceptMs: 200 });
        const caller = (await Caller.connect(proxy.port)).send(...get);
        await caller.receives("answer");
        caller.socket.end();
        await stopped;
        const late = await Caller.connect(proxy.port);
        expect(late.error).toBe("ECONNREFUSED");
    });

    it("new connections are accepted as long as the Service points to the proxy, and a while longer", async () => {
        let isPointedTo = true;
        const fault = { abort: 503 };
        const proxy = await startProxy(await answering(), { fault, isPointedTo: () => isPointedTo });
        const stopped = proxy.stop({ acceptMs: 200, closeMs: 300 });
        await sleep(800);
        await (await Caller.connect(proxy.port)).send(...get).receives("200 OK");
        isPointedTo = false;
        const since = performance.now();
        await stopped;
        expect(performance.now() - since).toBeGreaterThan(190);
        expect((await Caller.connect(proxy.port)).error).toBe("ECONNREFUSED");
    });

    it("connections that idle are closed after that, but not in the middle of a request or an answer", async () => {
        let release!: () => void;
        const pod = await httpPod(({ url }, response) => {
            if (url === "/slow") release = () => response.end("slow answer");
            else response.end("answer");
        });
        const proxy = await startProxy(pod);
        const idle = (await Caller.connect(proxy.port)).send(...get);
        await idle.receives("answer");
        const unused = await Caller.connect(proxy.port);
        const asking = (await Caller.connect(proxy.port)).send("GET / HTTP/1.1", "Ho");
        const waiting = (await Caller.connect(proxy.port)).send("GET /slow HTTP/1.1", "Host: shop", "", "");
        await until("the pod is asked", () => release !== undefined, local);
        const stopped = proxy.stop({ acceptMs: 100 });
        await idle.toEnd();
        await unused.toEnd();
        expect([idle.error, unused.error, asking.ended, waiting.ended]).toEqual([undefined, undefined, false, false]);
        asking.send("st: shop", "", "");
        expect(await asking.toEnd()).toMatch(/Connection: close[^]*answer$/);
        release();
        expect(await waiting.toEnd()).toMatch(/slow answer$/);
        for (const caller of [idle, unused, asking, waiting]) caller.socket.end();
        await stopped;
    });

    it("it lasts until the last connection has ended, but not for ever; a second SIGTERM changes nothing", async () => {
        const proxy = await startProxy((await echoPod()).port);
        const caller = (await Caller.connect(proxy.port)).send("\x00");
        await caller.receives("\x00");
        let over = false;
        void proxy.stop({ acceptMs: 50, closeMs: 300 }).then(() => (over = true));
        await sleep(150);
        void proxy.stop({ acceptMs: 0, closeMs: 0 });
        await caller.send("still open").receives("still open");
        expect(over).toBe(false);
        await until("the end", () => over, local);
        await caller.isReset();
    });
});
