import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isPointing } from "../../../chaos/kinds/attacks/fault/pointing";
import type { FaultAttack } from "../../../chaos/kinds/attacks/fault/fault-attack";
import { Experiment } from "../../../chaos/face/experiment";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { journalSchema } from "../../../chaos/report/journal-schema";
import { isReady } from "../../../chaos/targets/containers";
import { nodePod } from "../../../sandbox/test/e2e/support";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";
import { describeInAll, itInAll } from "../which-tests";

const namespace = "e2e-sequence";
const bytes = 2_000;
const graceMs = 2_000;

/** Answers over HTTP, and notes how many it has answered; over TCP it says as much on each connection. */
const api = `
    const body = "x".repeat(${bytes});
    let answered = 0;
    require("http").createServer((request, response) => {
        response.setHeader("answered", ++answered);
        response.end(body);
    }).listen(8080);
    require("net").createServer((socket) => socket.on("error", () => {}).end(body)).listen(9000);`;

/** Asks both ten times a second, over new connections, and prints what came of it. */
const caller = `
    const http = require("http"), net = require("net");
    const note = (what, at) => (how) => console.log(JSON.stringify({ what, at, ms: Date.now() - at, ...how }));
    const ask = () => {
        const done = note("http", Date.now());
        let bytes = 0;
        http.get({ host: "api", agent: false }, (response) => {
            const { statusCode: status, headers } = response;
            response.on("data", (chunk) => (bytes += chunk.length))
                .on("end", () => done({ status, bytes, retryAfter: headers["retry-after"], nth: headers.answered }))
                .on("error", ({ code }) => done({ code, bytes }));
        }).on("error", ({ code }) => done({ code, bytes }));
    };
    const connect = () => {
        const done = note("tcp", Date.now());
        let bytes = 0;
        net.connect(9000, "raw").on("data", (chunk) => (bytes += chunk.length))
            .on("end", () => done({ bytes })).on("error", ({ code }) => done({ code, bytes }));
    };
    net.createServer().listen(8080);
    setInterval(() => { ask(); connect(); }, 100);`;

interface Asked {
    what: "http" | "tcp";
    at: number;
    ms: number;
    bytes: number;
    status?: number;
    code?: string;
    retryAfter?: string;
    /** How many the pod had answered by then. */
    nth?: string;
}

let cluster: Cluster;
let folder: string;
let stack: Stack;
let attack: FaultAttack;
let durationMs: number;
let enabled = true;
let stays = false;

const program = async () => {
    const experiment = new Experiment("sequence", {
        enabled,
        context: cluster.kubeconfig.getCurrentContext(),
        hypothesis: "The callers stay ready.",
        namespace,
        attacks: [attack],
        checks: [{ kind: "podsReady", of: "k8s.pod.name=caller-a" }],
        window: { duration: `${durationMs}ms`, grace: `${graceMs}ms` },
        until: stays ? "disabled" : "verdict",
        reports: join(folder, "reports"),
        programs: experimentPrograms,
    });
    return { conclusion: experiment.conclusion };
};

/** Does a run, and lists what the callers met from its end of the grace period until the end of the window. */
async function runOf(fault: Omit<FaultAttack, "kind" | "service">, more: { service?: string; ms?: number } = {}) {
    const { service = "api", ms = 4_000 } = more;
    [attack, durationMs, enabled] = [{ kind: "fault", service, ...fault }, ms, true];
    let said = "";
    const { outputs } = await stack.up({ onOutput: (text) => (said += text) });
    const conclusion = outputs.conclusion!.value as Conclusion;
    const journal = journalSchema.parse(JSON.parse(readFileSync(conclusion.journal, "utf8")));
    const begun = journal.attackedAt! + graceMs;
    const asked = (await askedBy("caller-a", "caller-b")).filter(({ at }) => at >= journal.startedAt);
    const what = service === "api" ? "http" : "tcp";
    const met = asked.filter((one) => one.what === what && one.at >= begun && one.at < begun + ms);
    return { conclusion, counts: journal.attacks[0]!.counts!, asked, met, said, begun };
}

async function askedBy(...names: string[]): Promise<(Asked & { by: string })[]> {
    const each = names.map(async (name) => {
        const log = await cluster.core.readNamespacedPodLog({ name, namespace, sinceSeconds: 120 });
        return log.split("\n").flatMap((line) => (line ? { by: name, ...(JSON.parse(line) as Asked) } : []));
    });
    return (await Promise.all(each)).flat();
}

beforeAll(async () => {
    const opened = await openNamespace(namespace);
    ({ folder, cluster } = opened);
    for (const [name, port] of [
        ["api", 8080],
        ["raw", 9000],
    ] as const) {
        const ports = [{ port: name === "api" ? 80 : port, targetPort: port }];
        const body = { metadata: { name }, spec: { selector: { app: "api" }, ports } };
        await cluster.core.createNamespacedService({ namespace, body });
    }
    const pods: [string, string][] = [
        ["api", api],
        ["caller-a", caller],
        ["caller-b", caller],
    ];
    for (const [name, text] of pods) {
        const body = nodePod(name, text, { terminationGracePeriodSeconds: 0 });
        await cluster.core.createNamespacedPod({ namespace, body });
    }
    const readyPods = async () => (await cluster.core.listNamespacedPod({ namespace })).items.filter(isReady);
    await until("all pods are ready", async () => (await readyPods()).length === pods.length);
    stack = await LocalWorkspace.createStack(
        { stackName: "dev", projectName: "sequence", program },
        { pulumiCommand: opened.pulumiCommand },
    );
});
afterAll(async () => {
    await stack?.destroy().catch(() => undefined);
    await cluster.core.deleteNamespace({ name: namespace }).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
});

const statusesOf = (some: readonly Asked[]) => some.map(({ status, code }) => status ?? code);

describe("the first three requests from when answers count get 429 with Retry-After, and no other", () => {
    const limited = { abort: { status: 429, headers: { "Retry-After": "2" } }, first: 3 };

    it("which is proven for the whole window, and counted", async () => {
        stays = true;
        const { conclusion, counts, asked, begun, said } = await runOf(limited);
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts).toMatchObject({ faulted: 3, unfaultable: 0 });
        expect(said).toMatch(/Proven: api is aborted with status 429 and Retry-After: 2 in the first 3 requests/);
        const hit = asked.filter(({ status }) => status === 429);
        expect(hit.map(({ retryAfter, bytes: length }) => [retryAfter, length > 0])).toEqual(
            Array(3).fill(["2", true]),
        );
        for (const { at } of hit) expect(at - begun).toBeGreaterThan(-500);
        const last = Math.max(...hit.map(({ at }) => at));
        expect(last - begun).toBeLessThan(2_000);
    });

    it("and an update with --refresh, while the attack stays, changes nothing", async () => {
        const { summary } = await stack.up({ refresh: true });
        expect(summary.resourceChanges?.update ?? 0).toBe(0);
        expect(isPointing(await cluster.core.readNamespacedService({ name: "api", namespace }))).toBe(true);
        stays = false;
    });

    itInAll("and of which fewer came than it says, the verdict is INCONCLUSIVE", async () => {
        const { conclusion } = await runOf({ ...limited, first: 1_000 });
        expect(conclusion).toMatchObject({ verdict: "INCONCLUSIVE", code: "fault-incomplete" });
        expect(conclusion.reason).toMatch(/of the first 1000 requests through Service api were hit in the window/);
    });
});

describeInAll("seen by two callers,", () => {
    it("the first two requests of each are hit", async () => {
        const { conclusion, counts, asked } = await runOf({ abort: 503, first: 2, per: "client" });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts).toMatchObject({ faulted: 4, clients: 2 });
        const hit = asked.filter(({ status }) => status === 503).map(({ by }) => by);
        expect(hit.sort()).toEqual(["caller-a", "caller-a", "caller-b", "caller-b"]);
    });

    it("every fourth request is reset", async () => {
        const { conclusion, counts, met } = await runOf({ abort: "reset", every: 4 });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts.faulted / counts.requests).toBeCloseTo(1 / 4, 1);
        const resets = met.filter(({ code }) => code === "ECONNRESET");
        expect(resets.length / met.length).toBeCloseTo(1 / 4, 1);
        expect(new Set(statusesOf(met))).toEqual(new Set([200, "ECONNRESET"]));
    });

    it("a pulse is on for a second, then off for two, and so on", async () => {
        const ms = 7_000;
        const { conclusion, counts, met, begun } = await runOf({ abort: 503, pulse: { on: "1s", off: "2s" } }, { ms });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts.faulted).toBeGreaterThan(20);
        expect(counts.paused).toBeGreaterThan(40);
        const hit = met.filter(({ status }) => status === 503).sort((a, b) => a.at - b.at);
        const first = hit[0]!.at;
        expect(first - begun).toBeLessThan(1_000);
        // A request that was sent just before a change may come just after it.
        for (const { at } of hit) expect((at + 150 - first) % 3_000).toBeLessThan(1_300);
        expect(new Set(hit.map(({ at }) => Math.floor((at + 150 - first) / 3_000))).size).toBeGreaterThanOrEqual(2);
    });

    it("answers come whole, at so many bytes per second", async () => {
        const { conclusion, counts, met, begun } = await runOf({ bytesPerSecond: bytes });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts.throttled).toBeGreaterThan(20);
        // The last ones are passed on at once when the fault ends.
        const whole = met.filter(({ at }) => at < begun + 2_500);
        expect(whole.length).toBeGreaterThan(20);
        for (const { status, bytes: length, ms } of whole) {
            expect([status, length]).toEqual([200, bytes]);
            expect(ms).toBeGreaterThan(950);
        }
    });

    it("so do those of a connection without HTTP, while the pulse is on", async () => {
        const fault = { bytesPerSecond: bytes, pulse: { on: "2s", off: "2s" } };
        const { conclusion, counts, met } = await runOf(fault, { service: "raw", ms: 6_000 });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts.throttled).toBeGreaterThan(10);
        expect(counts.paused).toBeGreaterThan(10);
        expect(new Set(met.map(({ bytes: length }) => length))).toEqual(new Set([bytes]));
        const times = met.map(({ ms }) => ms);
        expect([Math.max(...times) > 950, Math.min(...times) < 300]).toEqual([true, true]);
    });

    it("an answer is cut after so many bytes of it", async () => {
        const { conclusion, counts, met } = await runOf({ cutAfter: 1_000, every: 2 });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts.cut).toBe(counts.faulted);
        const cut = met.filter(({ status }) => status === undefined);
        expect(cut.length).toBeGreaterThan(10);
        for (const { code, bytes: length } of cut) {
            expect(code).toBe("ECONNRESET");
            expect(length).toBeGreaterThan(500);
            expect(length).toBeLessThan(1_000);
        }
    });

    it("an answer that is cut after 0 bytes was given: the pod has done its work", async () => {
        const { conclusion, counts, asked, met } = await runOf({ cutAfter: 0, first: 5 });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts).toMatchObject({ faulted: 5, cut: 5 });
        expect(met.filter(({ code }) => code === "ECONNRESET").length).toBe(5);
        const numbers = asked.flatMap(({ nth }) => (nth === undefined ? [] : Number(nth)));
        const [least, most] = [Math.min(...numbers), Math.max(...numbers)];
        expect(most - least + 1 - numbers.length).toBeGreaterThanOrEqual(5);
    });
});

it("afterwards the Services are as before", async () => {
    enabled = false;
    await stack.up();
    for (const name of ["api", "raw"])
        expect((await cluster.core.readNamespacedService({ name, namespace })).spec!.selector).toEqual({ app: "api" });
    const services = (await cluster.core.listNamespacedService({ namespace })).items;
    expect(services.map(({ metadata }) => metadata!.name).sort()).toEqual(["api", "raw"]);
});
