import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Experiment } from "../../../chaos/face/experiment";
import type { FaultAttack } from "../../../chaos/kinds/attacks/fault/fault-attack";
import { podProgram } from "../../../chaos/pods/packed";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { journalSchema } from "../../../chaos/report/journal-schema";
import { isReady } from "../../../chaos/targets/containers";
import { nodePod } from "../../../sandbox/test/e2e/support";
import { bundledFile } from "../../../toolchain/bundle";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { makeCertificate } from "../../support/certificate";
import type { Called } from "../../support/grpc-pods";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { openNamespace } from "../shop/support";
import { describeInAll } from "../which-tests";

const namespace = "e2e-grpc";
const graceMs = 2_000;
const durationMs = 4_000;

/** A server and a caller of `@grpc/grpc-js`, and another server whose connections are encrypted. */
const pods = [
    { name: "api", role: "server", port: 9000 },
    { name: "sealed", role: "server", port: 9000 },
    { name: "caller", role: "caller", port: 8080 },
] as const;

let cluster: Cluster;
let folder: string;
let stack: Stack;
let attack: FaultAttack;
let enabled = true;

const program = async () => {
    const experiment = new Experiment("grpc", {
        enabled,
        context: cluster.kubeconfig.getCurrentContext(),
        hypothesis: "The caller stays ready.",
        namespace,
        attacks: [attack],
        checks: [{ kind: "podsReady", of: "k8s.pod.name=caller" }],
        window: { duration: `${durationMs}ms`, grace: `${graceMs}ms` },
        until: "verdict",
        reports: join(folder, "reports"),
        programs: experimentPrograms,
    });
    return { conclusion: experiment.conclusion };
};

/** Does a run, and lists what the caller met from its end of the grace period until the end of the window. */
async function runOf(fault: Omit<FaultAttack, "kind" | "service">, service = "api") {
    [attack, enabled] = [{ kind: "fault", service, ...fault }, true];
    let said = "";
    const { outputs } = await stack.up({ onOutput: (text) => (said += text) });
    const conclusion = outputs.conclusion!.value as Conclusion;
    const journal = journalSchema.parse(JSON.parse(readFileSync(conclusion.journal, "utf8")));
    // A call that began just before the end may be answered after it.
    const [begun, ended] = [journal.attackedAt! + graceMs, journal.attackedAt! + graceMs + durationMs - 1_000];
    const log = await cluster.core.readNamespacedPodLog({ name: "caller", namespace, sinceSeconds: 120 });
    const called = log.split("\n").flatMap((line) => (line.startsWith("{") ? (JSON.parse(line) as Called) : []));
    const all = called.filter(({ at }) => at >= journal.startedAt);
    const met = called.filter(({ at }) => at >= begun && at < ended);
    return { conclusion, counts: journal.attacks[0]?.counts, all, met, said };
}

const codesOf = (some: readonly Called[]) => [...new Set(some.map(({ code }) => code))].sort((a, b) => a - b);
const fresh = (some: readonly Called[], method: Called["method"]) =>
    some.filter((one) => !one.kept && one.method === method);

beforeAll(async () => {
    const opened = await openNamespace(namespace);
    ({ folder, cluster } = opened);
    const { args, binaryData, volumeMounts } = podProgram(
        readFileSync(bundledFile(join(__dirname, "..", "..", "support", "grpc-pods.ts")), "utf8"),
    );
    await cluster.core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "program" }, binaryData } });
    const { keyFile, certificateFile } = makeCertificate(folder);
    const tls = { KEY: readFileSync(keyFile, "utf8"), CERTIFICATE: readFileSync(certificateFile, "utf8") };
    for (const { name, role, port } of pods) {
        const env = Object.entries({ ROLE: role, ...(name === "sealed" && tls) });
        const body = nodePod(
            name,
            args[1]!,
            { terminationGracePeriodSeconds: 0, volumes: [{ name: "program", configMap: { name: "program" } }] },
            { port, ...{ env: env.map(([key, value]) => ({ name: key, value })), volumeMounts } },
        );
        await cluster.core.createNamespacedPod({ namespace, body });
        if (role === "caller") continue;
        const service = { metadata: { name }, spec: { selector: { app: name }, ports: [{ port }] } };
        await cluster.core.createNamespacedService({ namespace, body: service });
    }
    const readyPods = async () => (await cluster.core.listNamespacedPod({ namespace })).items.filter(isReady);
    await until("all pods are ready", async () => (await readyPods()).length === pods.length);
    stack = await LocalWorkspace.createStack(
        { stackName: "dev", projectName: "grpc", program },
        { pulumiCommand: opened.pulumiCommand },
    );
});
afterAll(async () => {
    await stack?.destroy().catch(() => undefined);
    await cluster.core.deleteNamespace({ name: namespace }).catch(() => undefined);
    rmSync(folder, { recursive: true, force: true });
});

it("calls of one method fail with a status of gRPC; others, and connections from before, go on", async () => {
    const abort = { grpc: "UNAVAILABLE" as const, message: "100 % gone" };
    const { conclusion, counts, all, met, said } = await runOf({ abort, match: { path: "/shop.Orders/Get" } });
    expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
    expect(said).toMatch(/Proven: api is aborted with gRPC status UNAVAILABLE in the requests to \/shop\.Orders\/Get/);
    expect(counts).toMatchObject({ unfaultable: 0 });
    expect(counts!.faulted).toBe(counts!.requests);
    expect(counts!.requests).toBeGreaterThan(20);
    expect(counts!.unmatched).toBeGreaterThan(20);
    expect(codesOf(fresh(met, "get"))).toEqual([14]);
    expect(fresh(met, "get")[0]!.details).toBe("100 % gone");
    expect(codesOf(fresh(met, "list"))).toEqual([0]);
    expect(codesOf(all.filter(({ kept }) => kept))).toEqual([0]);
    // Before and after, nothing failed, also while the Service was pointed to the proxy and back.
    expect(codesOf(all.filter(({ kept, method }) => !kept && method === "list"))).toEqual([0]);
});

it("what is encrypted is refused before the attack, with what can be done instead", async () => {
    await expect(runOf({ abort: { grpc: "UNAVAILABLE" } }, "sealed")).rejects.toThrow(
        /ABORTED \(service-unfit\).* sealed through sealed:9000 answers in TLS; allowed: "reset" or "hang"/,
    );
});

describeInAll("a fault hits single calls:", () => {
    it("every second one with a header is slow", async () => {
        const match = { headers: { "x-request-id": "mine" } };
        const { conclusion, counts, met } = await runOf({ delay: "600ms", every: 2, match });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts!.faulted / counts!.requests).toBeCloseTo(1 / 2, 1);
        const [mine, yours] = ["mine", "yours"].map((requestId) =>
            met.filter((one) => !one.kept && one.requestId === requestId).map(({ ms }) => ms),
        );
        const slow = mine!.filter((ms) => ms >= 600);
        expect(slow.length / mine!.length).toBeCloseTo(1 / 2, 1);
        expect(Math.max(...yours!)).toBeLessThan(600);
        expect(codesOf(met)).toEqual([0]);
    });

    it("the first three get a status of HTTP, which is UNAVAILABLE to their caller", async () => {
        const { conclusion, counts, all } = await runOf({ abort: 503, first: 3 });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(counts).toMatchObject({ faulted: 3, unfaultable: 0 });
        const failed = all.filter(({ code }) => code !== 0);
        expect(failed.map(({ code }) => code)).toEqual([14, 14, 14]);
    });

    it("they are reset, and others on the same connection are not", async () => {
        const { conclusion, met } = await runOf({ abort: "reset", match: { path: "/shop.Orders/List" } });
        expect(conclusion.verdict, conclusion.reason).toBe("PASSED");
        expect(codesOf(fresh(met, "list"))).toEqual([13]);
        expect(codesOf(fresh(met, "get"))).toEqual([0]);
    });

    it("their answers come slowly, or are cut", async () => {
        const slow = await runOf({ bytesPerSecond: 4_000, match: { path: "/shop.Orders/List" } });
        expect(slow.conclusion.verdict, slow.conclusion.reason).toBe("PASSED");
        expect(slow.counts!.throttled).toBeGreaterThan(10);
        expect(codesOf(slow.met)).toEqual([0]);
        for (const { ms } of fresh(slow.met, "list")) expect(ms).toBeGreaterThan(450);
        const cut = await runOf({ cutAfter: 0, match: { path: "/shop.Orders/Get" } });
        expect(cut.conclusion.verdict, cut.conclusion.reason).toBe("PASSED");
        expect(cut.counts!.cut).toBe(cut.counts!.requests);
        expect(codesOf(fresh(cut.met, "get"))).toEqual([13]);
    });
});

describe("afterwards", () =>
    it("the Services are as before", async () => {
        enabled = false;
        await stack.up();
        const services = (await cluster.core.listNamespacedService({ namespace })).items;
        expect(services.map(({ metadata, spec }) => [metadata!.name, spec!.selector])).toEqual([
            ["api", { app: "api" }],
            ["sealed", { app: "sealed" }],
        ]);
    }));
