import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { ApiServerPulse } from "../../chaos/kinds/checks/api-server";
import { Endpoints } from "../../chaos/kinds/checks/endpoints";
import { askThrough } from "../../chaos/kinds/checks/observe";
import { http, type HttpCheck } from "../../chaos/kinds/checks/http";
import { judgeCheck, type Judged } from "../../chaos/report/judged-check";
import { kubeconfigFrom } from "../../chaos/cluster/kubeconfig";
import { kubeconfigOf } from "../support/kubeconfig";

const path = "/api/v1/namespaces/demo/services/gateway";
const check: HttpCheck = { kind: "http", path: "/products" };
const [intervalMs, timeoutMs, lengthMs] = [100, 800, 4_500];

let server: Server;
/** What answers nothing now; it answers later. */
let stopped: "none" | "API server" | "application";
let waiting: (() => void)[];
beforeEach(async () => {
    stopped = "none";
    waiting = [];
    server = createServer((request, response) => {
        const held = stopped === "API server" || (stopped === "application" && request.url!.includes("/proxy/"));
        if (held) waiting.push(() => response.end("{}"));
        else response.end("{}");
    }).listen(0, "127.0.0.1");
    await once(server, "listening");
});
afterEach(() => {
    server.closeAllConnections();
    server.close();
});

/** Checks through an API server while something stops for the middle third of the time. */
async function judgedWhile(stopping: typeof stopped): Promise<Judged> {
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const cluster = { kubeconfig: kubeconfigFrom(kubeconfigOf("a", url)) } as never;
    const pulse = new ApiServerPulse(() => fetch(url + path), timeoutMs);
    const route = { kind: "apiServer", path: `${path}:80/proxy` } as const;
    const endpoints = new Endpoints(cluster, "demo", { route });
    const where = { cluster, endpoints, pulse, defaultNamespace: "demo", clusterName: "local" };
    const begunAt = Date.now();
    const asked = askThrough(() => http.probe(check, where, timeoutMs), lengthMs, intervalMs);
    await sleep(lengthMs / 3);
    stopped = stopping;
    await sleep(lengthMs / 3);
    stopped = "none";
    for (const answer of waiting) answer();
    const answers = await asked;
    pulse.stop();
    return judgeCheck({ name: "/products", check, intervalMs, timeoutMs, successRate: 1 }, answers, {
        attackedAt: begunAt,
        graceMs: 0,
    });
}

it("nothing is known if the API server stops answering for a while", async () => {
    const { held, inconclusive } = await judgedWhile("API server");
    expect(held).toBe(false);
    expect(inconclusive).toEqual({
        code: "application-not-seen",
        message: expect.stringMatching(/no answer within 800 ms, while the API server did not answer/),
    });
});

it("a check does not hold if the application alone stops answering for a while", async () => {
    const { held, inconclusive, reason } = await judgedWhile("application");
    expect([held, inconclusive]).toEqual([false, undefined]);
    expect(reason).toContain("last failure: no answer within 800 ms");
});

it("a check holds if both answer", async () => expect(await judgedWhile("none")).toMatchObject({ held: true }));
