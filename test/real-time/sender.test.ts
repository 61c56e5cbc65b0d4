import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Answer } from "../../chaos/kinds/checks/answer";
import { ApiServerPulse } from "../../chaos/kinds/checks/api-server";
import { command } from "../../chaos/kinds/checks/command";
import { Endpoints } from "../../chaos/kinds/checks/endpoints";
import { http } from "../../chaos/kinds/checks/http";
import { askThrough } from "../../chaos/kinds/checks/observe";
import { prometheus } from "../../chaos/kinds/checks/prometheus";
import { kubeconfigFrom } from "../../chaos/cluster/kubeconfig";
import { judgeCheck } from "../../chaos/report/judged-check";
import { kubeconfigOf } from "../support/kubeconfig";

/** Another thread, so that it answers while this one is stopped: after the milliseconds in the path. */
const program = `
    const { createServer } = require("node:http");
    const { parentPort } = require("node:worker_threads");
    const body = JSON.stringify({ status: "success", data: { resultType: "scalar", result: [0, "1"] } });
    const server = createServer((request, response) => {
        const [, status = "200", ms = "0"] = /^\\/(\\d+)\\/(\\d+)/.exec(request.url) ?? [];
        if (status === "0") return void setTimeout(() => request.socket.resetAndDestroy(), ms);
        setTimeout(() => response.writeHead(Number(status)).end(body), ms);
    });
    server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
`;

let worker: Worker;
let url: string;
beforeAll(async () => {
    worker = new Worker(program, { eval: true });
    const [port] = (await once(worker, "message")) as [number];
    url = `http://127.0.0.1:${port}`;
});
afterAll(() => worker.terminate());

/** Stops this thread, as a signal or a busy machine does. */
function stop(ms: number): void {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

const contextWith = (pulse?: ApiServerPulse) => {
    const cluster = { kubeconfig: kubeconfigFrom(kubeconfigOf("a", url)) } as never;
    const endpoints = new Endpoints(cluster, "demo", {});
    return { cluster, endpoints, pulse, defaultNamespace: "demo", clusterName: "local" };
};

/** The answer to one request that is due at once, while this thread stops for `forMs` after `afterMs`. */
async function whileStopped(ask: () => Promise<Answer>, limitMs: number | undefined, afterMs: number, forMs: number) {
    const asked = askThrough(ask, 1, 1, { limitMs });
    await sleep(afterMs);
    stop(forMs);
    const [answer] = await asked;
    return answer!;
}

describe("while this machine does not read answers, a request", () => {
    const asked = (path: string, { maxLatencyMs = 500, timeoutMs = 1_000, afterMs = 30, forMs = 600 } = {}) =>
        whileStopped(
            () => http.probe({ kind: "http", path, url, maxLatencyMs }, contextWith(), timeoutMs),
            Math.min(maxLatencyMs, timeoutMs),
            afterMs,
            forMs,
        );

    it("says nothing if its answer may have come in time", async () =>
        expect(await asked("/200/100")).toMatchObject({
            good: false,
            unseen: true,
            stalledMs: expect.any(Number) as unknown,
            problem: expect.stringMatching(
                /^status 200 after \d+ ms, of which this machine was busy or asleep for \d+ ms \(required: at most 500/,
            ) as unknown,
        }));

    it("says nothing if its answer may have come in time, and the limit is over when this machine goes on", async () =>
        expect(await asked("/200/100", { maxLatencyMs: 1_000, timeoutMs: 500 })).toMatchObject({
            good: false,
            unseen: true,
            problem: expect.stringContaining("before it read the answer") as unknown,
        }));

    it("says nothing if its connection breaks", async () =>
        expect(await asked("/0/200", { forMs: 900 })).toMatchObject({
            unseen: true,
            problem: expect.stringMatching(/, while this machine was busy or asleep for [\d.]+ m?s$/) as unknown,
        }));

    it.each<[string, string, object]>([
        ["its answer is too slow by more than that", "/200/1500", { timeoutMs: 2_500, forMs: 200 }],
        ["no answer comes in its time", "/200/3000", {}],
        ["its answer is bad", "/500/100", {}],
    ])("is bad if %s", async (_, path, options) => {
        const answer = await asked(path, options);
        expect(answer).toMatchObject({ good: false, stalledMs: expect.any(Number) as unknown });
        expect(answer).not.toHaveProperty("unseen");
    });

    it("is good if its answer is read in time all the same, and how late is told", async () =>
        expect(await asked("/200/100", { maxLatencyMs: 900, forMs: 200 })).toMatchObject({
            good: true,
            stalledMs: expect.any(Number) as unknown,
        }));

    it("is as good as ever without a stop", async () => {
        const { good, stalledMs = 0 } = await asked("/200/100", { maxLatencyMs: 900, forMs: 0 });
        expect(good).toBe(true);
        expect(stalledMs).toBeLessThan(500);
    });
});

describe("while this machine is stopped", () => {
    const runs = (text: string) => () =>
        command.probe({ kind: "command", command: ["sh", "-c", text] }, contextWith(), 1_000);

    it("a program says nothing if it fails, or may have ended in time", async () => {
        expect(await whileStopped(runs("sleep 0.1; exit 1"), 1_000, 30, 900)).toMatchObject({ unseen: true });
        expect(await whileStopped(runs("sleep 0.1"), 1_000, 30, 1_200)).toMatchObject({ unseen: true });
    });

    it("a program that does not end in its time is bad", async () => {
        const answer = await whileStopped(runs("sleep 5"), 1_000, 30, 300);
        expect(answer).toMatchObject({ good: false, problem: "no answer within 1000 ms" });
        expect(answer).not.toHaveProperty("unseen");
    });

    it("what Prometheus says is read later, for up to a second", async () => {
        const asks = (limits: object) => () =>
            prometheus.probe({ kind: "prometheus", query: "x", url, path: "/200/100", ...limits }, contextWith(), 500);
        expect(await whileStopped(asks({ atLeast: 1 }), undefined, 30, 700)).toMatchObject({ good: true });
        expect(await whileStopped(asks({ atLeast: 2 }), undefined, 30, 700)).not.toHaveProperty("unseen");
        expect(await whileStopped(asks({ atLeast: 1 }), undefined, 30, 1_700)).toMatchObject({ unseen: true });
    });

    it("the API server is not said to be silent", async () => {
        const pulse = new ApiServerPulse(() => fetch(url), 1_000);
        const ask = () => http.probe({ kind: "http", path: "/500/100", url }, contextWith(pulse), 1_000);
        await sleep(500);
        const begun = performance.now();
        const answer = await whileStopped(ask, 1_000, 30, 900);
        expect(pulse.wasSilentSince(begun)).toBe(false);
        expect(await pulse.answeredSince(begun)).toBe(true);
        pulse.stop();
        expect(answer).not.toHaveProperty("unseen");
    });
});

describe("a check with a latency limit, while this machine stops at any moment", () => {
    const judged = async (path: string) => {
        const check = { kind: "http", path, url, maxLatencyMs: 300 } as const;
        const planned = { name: path, check, intervalMs: 100, timeoutMs: 2_000, successRate: 1 };
        const begunAt = Date.now();
        const asked = askThrough(() => http.probe(check, contextWith(), 2_000), 4_000, 100, { limitMs: 300 });
        for (const forMs of [250, 400, 600]) {
            await sleep(500 + Math.random() * 200);
            stop(forMs);
        }
        return judgeCheck(planned, await asked, { attackedAt: begunAt, graceMs: 0 });
    };

    it("has no verdict if the application is quick", async () =>
        expect((await judged("/200/50")).inconclusive?.code).toBe("sender-stalled"));

    it("fails if the application is slow", async () => {
        const { held, inconclusive } = await judged("/200/1200");
        expect([held, inconclusive]).toEqual([false, undefined]);
    });
});
