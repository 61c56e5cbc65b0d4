import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { Caller, echoPod, get, httpPod, startProxy } from "./support";

const pod = () => httpPod((_, response) => response.end("pod"));

/** The answer to a request over a connection that is kept: the status, or what the pod says. */
async function ask(caller: Caller): Promise<string> {
    await caller.send(...get).receives("HTTP/1.1 ");
    const status = caller.received.slice(0, 3);
    await caller.receives(status === "200" ? "\r\n\r\npod" : "status.\n");
    return status;
}

async function askTimes(caller: Caller, times: number): Promise<string[]> {
    const statuses: string[] = [];
    for (let left = times; left > 0; left--) statuses.push(await ask(caller));
    return statuses;
}

describe("the first requests", () => {
    it("are those from when answers count: nobody uses them up before", async () => {
        const proxy = await startProxy(await pod(), { fault: { abort: 503, first: 2 } });
        const caller = await Caller.connect(proxy.port);
        expect(await askTimes(caller, 3)).toEqual(["200", "200", "200"]);
        proxy.answersCount();
        expect(await askTimes(caller, 4)).toEqual(["503", "503", "200", "200"]);
        expect(proxy.counts()).toMatchObject({ requests: 7, faulted: 2 });
    });

    it("of each client are counted by its address, over all of its connections", async () => {
        const proxy = await startProxy(await pod(), { fault: { abort: 503, first: 2, per: "client" } });
        proxy.answersCount();
        const [a, again, b] = await Promise.all(
            ["127.0.0.2", "127.0.0.2", "127.0.0.3"].map((from) => Caller.connect(proxy.port, from)),
        );
        expect([await ask(a!), await ask(again!), await ask(a!)]).toEqual(["503", "503", "200"]);
        expect(proxy.clients()).toBe(1);
        expect(await askTimes(b!, 3)).toEqual(["503", "503", "200"]);
        expect(proxy.clients()).toBe(2);
    });

    it("of a client do not count as hit if their answers were too short to be cut", async () => {
        const proxy = await startProxy(await pod(), { fault: { cutAfter: 100_000, first: 2, per: "client" } });
        proxy.answersCount();
        expect(await askTimes(await Caller.connect(proxy.port), 3)).toEqual(["200", "200", "200"]);
        expect([proxy.counts().faulted, proxy.clients()]).toEqual([0, 0]);
    });

    it("are only those that match", async () => {
        const proxy = await startProxy(await pod(), { fault: { abort: 503, first: 1, match: { path: "/a" } } });
        proxy.answersCount();
        const statuses: number[] = [];
        for (const path of ["/b", "/a", "/a"]) statuses.push((await fetch(proxy.url + path)).status);
        expect(statuses).toEqual([200, 503, 200]);
        expect(proxy.counts()).toMatchObject({ requests: 2, faulted: 1, unmatched: 1 });
    });

    it("are connections of what is not HTTP", async () => {
        const proxy = await startProxy((await echoPod()).port, { fault: { abort: "reset", first: 1 } });
        proxy.answersCount();
        await (await Caller.connect(proxy.port)).send("\x00").isReset();
        await (await Caller.connect(proxy.port)).send("\x00").receives("\x00");
        expect(proxy.counts()).toMatchObject({ requests: 2, faulted: 1 });
    });
});

it("every third request is hit, from the beginning", async () => {
    const proxy = await startProxy(await pod(), { fault: { abort: 503, every: 3 } });
    const caller = await Caller.connect(proxy.port);
    expect(await askTimes(caller, 7)).toEqual(["200", "200", "503", "200", "200", "503", "200"]);
    expect(proxy.counts()).toMatchObject({ requests: 7, faulted: 2 });
});

it("a pulse is on from when answers count, then off, then on again", async () => {
    const pulse = { onMs: 300, offMs: 300 };
    const proxy = await startProxy(await pod(), { fault: { abort: 503, pulse } });
    const caller = await Caller.connect(proxy.port);
    expect(await ask(caller)).toBe("200");
    const begun = performance.now();
    proxy.answersCount();
    const seen: string[] = [];
    for (const atMs of [50, 150, 450, 550, 750]) {
        await sleep(begun + atMs - performance.now());
        seen.push(await ask(caller));
    }
    expect(seen).toEqual(["503", "503", "200", "200", "503"]);
    expect(proxy.counts()).toEqual({ requests: 6, faulted: 3, paused: 2, unfaultable: 0, unreachable: 0 });
});

it("an abort answers with the headers and the body that it says", async () => {
    const headers = { "Retry-After": "2", "content-type": "application/json" };
    const answer = { status: 429, headers, body: '{"error":"quota"}' };
    const proxy = await startProxy(await pod(), { fault: { abort: answer, first: 1 } });
    proxy.answersCount();
    const caller = await Caller.connect(proxy.port);
    await caller.send(...get).receives('"quota"}');
    const { status, headers: found } = await fetch(proxy.url);
    expect([status, found.get("retry-after")]).toEqual([200, null]);
    const other = await startProxy(await pod(), { fault: { abort: answer } });
    const response = await fetch(other.url);
    expect([response.status, response.headers.get("retry-after")]).toEqual([429, "2"]);
    expect(response.headers.get("content-type")).toBe("application/json");
    expect(await response.json()).toEqual({ error: "quota" });
});
