import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { newTraceparent } from "../../../../../../../chaos/values/trace-mark";
import { local, until } from "../../../../../../support/until";
import { Caller, get, httpPod, ofRun, slice, startProxy, target, tcpPod, timed } from "./support";

const post = (body: string) => ["POST / HTTP/1.1", "Host: shop", `Content-Length: ${body.length}`, "", body];

/** A pod that answers with the request's path and body, and lists what it was asked. */
async function recordingPod() {
    const asked: string[] = [];
    const port = await httpPod((request, response) => {
        asked.push(`${request.method} ${request.url}`);
        let body = "";
        request
            .on("data", (chunk) => (body += String(chunk)))
            .on("end", () => response.end(`pod ${request.url} ${body}`));
    });
    return { port, asked };
}

describe("a delay", () => {
    it("is of each request that the dice hit, and only of these", async () => {
        const { port } = await recordingPod();
        const throws = [0.1, 0.9, 0.4999];
        const fault = { delayMs: 150, percentage: 50 };
        const proxy = await startProxy(port, { fault, random: () => throws.shift()! });
        const caller = await Caller.connect(proxy.port);
        const took: number[] = [];
        for (const body of ["one", "two", "three"])
            took.push(await timed(() => caller.send(...post(body)).receives(`pod / ${body}`)));
        expect(took.map((ms) => ms > 145)).toEqual([true, false, true]);
        expect(proxy.counts()).toMatchObject({ requests: 3, faulted: 2 });
    });

    it("is dropped with its request if the caller does not wait: the pod is never asked", async () => {
        const { port, asked } = await recordingPod();
        const proxy = await startProxy(port, { fault: { delayMs: 200 } });
        for (const leave of ["end", "resetAndDestroy"] as const) {
            const caller = (await Caller.connect(proxy.port)).send(...post("body"));
            await sleep(50);
            caller.socket[leave]();
            await until("the connection is closed", () => caller.closed, local);
        }
        await sleep(250);
        expect(asked).toEqual([]);
    });

    it("may be longer than the pod waits for a request: it gets it over another connection", async () => {
        let served = 0;
        const pod = await tcpPod((socket) => {
            const patience = setTimeout(() => socket.end("HTTP/1.1 408 Request Timeout\r\n\r\n"), 100);
            socket.once("data", () => {
                clearTimeout(patience);
                socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${++served}`);
            });
        });
        const proxy = await startProxy(pod.port, { fault: { delayMs: 250 } });
        const caller = (await Caller.connect(proxy.port)).send(...get);
        expect(await caller.toEnd()).toBe("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n1");
        expect(pod.sockets.length).toBe(2);
    });
});

describe("an abort with a status", () => {
    it("answers in the pod's place with a text that names the run, and the connection stays usable", async () => {
        const { port, asked } = await recordingPod();
        const throws = [0, 0, 0.5, 0];
        const proxy = await startProxy(port, { fault: { abort: 503, percentage: 50 }, random: () => throws.shift()! });
        const caller = await Caller.connect(proxy.port);
        const text = "The chaos experiment's run the-run answers with this status.\n";
        caller.send(...post("body"), ...post("b".repeat(200_000)));
        for (let round = 0; round < 2; round++) {
            await caller.receives("HTTP/1.1 503 Service Unavailable\r\n");
            await caller.receives(`Content-Length: ${text.length}\r\n\r\n${text}`);
        }
        await caller.send("GET /passed HTTP/1.1", "Host: shop", "", "").receives("pod /passed ");
        caller.send("HEAD / HTTP/1.1", "Host: shop", "", "");
        await caller.receives(`Content-Length: ${text.length}\r\n\r\n`);
        await sleep(50);
        expect([caller.received, asked]).toEqual(["", ["GET /passed"]]);
        expect(proxy.counts()).toEqual({ requests: 4, faulted: 3, unfaultable: 0, unreachable: 0 });
    });

    it("comes after the delay", async () => {
        const { port } = await recordingPod();
        const proxy = await startProxy(port, { fault: { delayMs: 150, abort: 429 } });
        const caller = await Caller.connect(proxy.port);
        expect(await timed(() => caller.send(...get).receives("429 Too Many Requests"))).toBeGreaterThan(145);
    });

    it.each([
        ["wants no other request", ["GET / HTTP/1.1", "Connection: close", "", ""]],
        ["speaks HTTP/1.0", ["GET / HTTP/1.0", "", ""]],
        ["waits to be told to continue", ["PUT / HTTP/1.1", "Expect: 100-continue", "Content-Length: 9", "", ""]],
    ])("closes the connection of a caller that %s", async (_, lines) => {
        const { port } = await recordingPod();
        const proxy = await startProxy(port, { fault: { abort: 503 } });
        const caller = (await Caller.connect(proxy.port)).send(...lines);
        expect(await caller.toEnd()).toContain("\r\nConnection: close\r\n");
        expect(caller.error).toBeUndefined();
    });

    it("keeps the connection though the pod has closed its own meanwhile", async () => {
        const pod = await tcpPod((socket) => {
            const patience = setTimeout(() => socket.end(), 50);
            socket.once("data", () => {
                clearTimeout(patience);
                socket.write("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npod!");
            });
        });
        const throws = [0, 0, 0.5];
        const proxy = await startProxy(pod.port, {
            fault: { abort: 500, percentage: 50 },
            random: () => throws.shift()!,
        });
        const caller = (await Caller.connect(proxy.port)).send(...get);
        await caller.receives("status.\n");
        await sleep(100);
        await caller.send(...get).receives("status.\n");
        await caller.send(...get).receives("pod!");
    });
});

describe("a hang", () => {
    it("answers neither the request nor those that are pipelined after it, until the caller leaves", async () => {
        const { port, asked } = await recordingPod();
        const throws = [0.5, 0];
        const proxy = await startProxy(port, {
            fault: { abort: "hang", percentage: 50 },
            random: () => throws.shift()!,
        });
        const caller = (await Caller.connect(proxy.port)).send(...get, ...get, ...get);
        await caller.receives("pod / ");
        await sleep(150);
        expect([caller.received, caller.closed, asked.length]).toEqual(["", false, 1]);
        caller.socket.end();
        await until("the connection is closed", () => caller.closed, local);
    });
});

describe("a reset", () => {
    it("is a RST, and the request never reaches the pod", async () => {
        const { port, asked } = await recordingPod();
        const proxy = await startProxy(port, { fault: { abort: "reset" } });
        await (await Caller.connect(proxy.port)).send(...post("body")).isReset();
        expect(asked).toEqual([]);
    });
});

it("requests in the traces of the run's checks are counted among all others, matching or not", async () => {
    const { port } = await recordingPod();
    const throws = [0, 0.9, 0];
    const fault = { abort: 503, percentage: 50, match: { path: "/a" } };
    const proxy = await startProxy(port, { fault, random: () => throws.shift()! });
    for (const [path, key] of [
        ["/a", ofRun.pass],
        ["/a", ofRun.pass],
        ["/a", "another-run"],
        ["/b", ofRun.pass],
    ]) {
        const headers = { traceparent: newTraceparent(key).traceparent };
        await fetch(proxy.url + path, { headers });
    }
    expect(proxy.counts()).toMatchObject({ requests: 3, faulted: 2, unmatched: 1, ofChecks: 3, ofChecksFaulted: 1 });
});

it("other pods than the chosen ones are never faulted", async () => {
    const { port } = await recordingPod();
    const proxy = await startProxy(port, { slices: [slice(port, ["another"])], fault: { abort: "reset" } });
    await (await Caller.connect(proxy.port)).send(...get).receives("200 OK");
    expect(proxy.counts("another")).toEqual({ requests: 1, faulted: 0, unfaultable: 0, unreachable: 0 });
    expect(proxy.counts(target)).toBeUndefined();
});
