import { LocalWorkspace, type Stack } from "@pulumi/pulumi/automation";
import { setTimeout as sleep } from "node:timers/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { removeNamespaces } from "../../../bench/on-cluster";
import { leaseName } from "../../../chaos/lease/lease-record";
import { Experiment, type ExperimentArgs } from "../../../chaos/face/experiment";
import type { Action } from "../../../chaos/index";
import type { Conclusion } from "../../../chaos/report/conclusion";
import type { Journal } from "../../../chaos/report/journal-schema";
import { project } from "../../../cli/stack-file";
import { createNamespace, nodePod, ready } from "../../../sandbox/test/e2e/support";
import { preparePulumi } from "../../../toolchain/prepare-pulumi";
import { experimentPrograms } from "../../../toolchain/experiment-programs";
import { keptJournals } from "../../support/kept-journals";
import type { TypedCluster as Cluster } from "../../support/typed-cluster";
import { until } from "../../support/until";
import { itInAll } from "../which-tests";
import { temporaryPrefix, TestStack, useBackend } from "../shop/support";

/** Answers at once, or after 200 ms, and counts the requests of each second. */
const serving = `
    const counts = {};
    require("http").createServer((request, answer) => {
        if (request.url === "/counts") return answer.end(JSON.stringify(counts));
        const second = Math.floor(Date.now() / 1000);
        counts[second] = (counts[second] ?? 0) + 1;
        setTimeout(() => answer.end("{}"), request.url === "/slow" ? 200 : 0);
    }).listen(8080);`;

const loadPods = async (cluster: Cluster, namespace: string) =>
    (await cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-experiments/beside" })).items;

/** A load goes on for some seconds after its run has ended. */
const endedMs = 10_000;
const untilNone = (cluster: Cluster, namespace: string, timeoutMs = endedMs) =>
    until("no load is left", async () => (await loadPods(cluster, namespace)).length === 0, { timeoutMs });

describe("a load on a Service", () => {
    const namespace = "e2e-load";
    let cluster: Cluster;
    let folder: string;
    let stack: Stack;
    let args: Partial<ExperimentArgs>;
    let runs = 0;
    let said = "";

    const load = (more: Partial<Extract<Action, { kind: "load" }>> = {}): Action => ({
        kind: "load",
        name: "visitors",
        service: "api",
        path: "/",
        perSecond: 50,
        ...more,
    });
    const slow = [{ kind: "fault", service: "api", delay: "300ms" }];
    const program = async () => {
        const experiment = new Experiment("loaded", {
            enabled: true,
            context: cluster.kubeconfig.getCurrentContext(),
            hypothesis: "It holds.",
            namespace,
            run: String(runs),
            checks: [{ kind: "podsReady", of: "k8s.pod.name=api" }],
            window: { duration: "8s", grace: "2s" },
            reports: join(folder, "reports"),
            programs: experimentPrograms,
            ...args,
        });
        return { conclusion: experiment.conclusion };
    };
    async function conclusionOf(wanted: Partial<ExperimentArgs>): Promise<Conclusion> {
        runs++;
        args = wanted;
        said = "";
        const { outputs } = await stack.up({ onOutput: (text) => (said += text) });
        return outputs.conclusion!.value as Conclusion;
    }
    const journal = (): Journal => keptJournals(join(folder, "reports"))[0]!;

    beforeAll(async () => {
        folder = mkdtempSync(join(tmpdir(), temporaryPrefix));
        cluster = await useBackend(folder);
        const pulumiCommand = await preparePulumi(project);
        await createNamespace(namespace);
        await cluster.core.createNamespacedPod({ namespace, body: nodePod("api", serving) });
        const spec = { selector: { app: "api" }, ports: [{ port: 80, targetPort: 8080 }] };
        await cluster.core.createNamespacedService({ namespace, body: { metadata: { name: "api" }, spec } });
        const denied = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };
        const body = { metadata: { name: "default-deny" }, spec: denied };
        await cluster.networking.createNamespacedNetworkPolicy({ namespace, body });
        await ready(namespace, "api");
        stack = await LocalWorkspace.createStack(
            { stackName: "dev", projectName: "loaded", program },
            { pulumiCommand },
        );
    });
    afterAll(async () => {
        await stack?.destroy().catch(() => undefined);
        await removeNamespaces(cluster, [namespace]);
        rmSync(folder, { recursive: true, force: true });
    });

    it("shows by its latencies that a slow Service fails, though policies deny all else, and ends", async () => {
        const limits = { successRate: 0.95, latency: { p95: { atMost: "150ms" } } };
        const { verdict, reason, checks } = await conclusionOf({ attacks: slow, actions: [load(limits)] } as never);
        expect([verdict, reason]).toEqual(["FAILED", expect.stringMatching(/within 150 ms \(required: 95%/)]);
        expect(checks.find(({ name }) => name === "visitors")).toMatchObject({ held: false });
        const [{ due, sent, latencyMs }] = journal().deliveries as [NonNullable<Journal["deliveries"]>[number]];
        expect(sent / due).toBeGreaterThan(0.98);
        expect(latencyMs!.p50).toBeGreaterThan(290);
        await untilNone(cluster, namespace);
    });

    it("shows that it answers in time, if that is enough", async () => {
        const limits = { successRate: 0.95, latency: { p95: { atMost: "3s" } } };
        const { verdict, reason } = await conclusionOf({ attacks: slow, actions: [load(limits)] } as never);
        expect([verdict, reason]).toEqual(["PASSED", expect.stringContaining("were sent on time")]);
        await untilNone(cluster, namespace);
    });

    it("attacks nobody if its rate cannot be sent: ABORTED, with what would do", async () => {
        const impossible = load({ path: "/slow", perSecond: 200, connections: 2 });
        runs++;
        args = { attacks: slow, actions: [impossible] } as never;
        const failing = await stack.up().then(
            () => "",
            (error: unknown) => String(error),
        );
        expect(failing).toMatch(/ABORTED \(load-not-delivered\): .*waited for answers.*Allow more `connections`/s);
        await untilNone(cluster, namespace);
    });

    it("is INCONCLUSIVE if it is not sent to the end", async () => {
        const run = conclusionOf({ actions: [load({ successRate: 0.5 })], window: { duration: "8s" } });
        const pod = await until("it is sent", async () => (await loadPods(cluster, namespace))[0], {
            timeoutMs: 120_000,
        });
        // The update says so once the checks are under way.
        await until("checks", () => said.includes("Nothing is attacked"), { timeoutMs: 120_000 });
        await sleep(4_000);
        await cluster.core.deleteNamespacedPod({ namespace, name: pod.metadata!.name!, gracePeriodSeconds: 0 });
        const { verdict, code, reason } = await run;
        expect([verdict, code]).toEqual(["INCONCLUSIVE", "load-not-delivered"]);
        expect(reason).toContain("is gone");
    });
});

describe("a load whose update is killed", () => {
    const namespace = "e2e-load-killed";
    let stack: TestStack;
    beforeAll(async () => {
        stack = await TestStack.open(namespace);
        await stack.up();
        await stack.untilWhole();
    });
    afterAll(() => stack.close());

    /** Begins an update that sends it, and kills it with SIGKILL once pods are attacked. */
    async function loadAndKill(settings: Record<string, string> = {}): Promise<void> {
        stack.set({
            "experiment.enabled": "true",
            "experiment.name": "hot-deals-kill-under-load",
            "experiment.duration": "60s",
            "experiment.until": "verdict",
            ...settings,
        });
        const update = stack.begin();
        try {
            await until("the attack is proven", () => update.printed().includes("Proven"), { timeoutMs: 180_000 });
        } catch (error) {
            throw new Error(update.printed(), { cause: error });
        } finally {
            await update.kill();
        }
        expect(await loadPods(stack.cluster, namespace)).toHaveLength(1);
    }

    it("ends when the namespace's lease is deleted", async () => {
        await loadAndKill();
        await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace });
        await untilNone(stack.cluster, namespace);
        await stack.cancel();
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });

    itInAll("ends at the deadline, though the pod of the deadline Job was evicted", async () => {
        await loadAndKill({ "experiment.deadline": "90s" });
        const { core } = stack.cluster;
        const ofJob = { namespace, labelSelector: "batch.kubernetes.io/job-name" };
        const { name } = (await core.listNamespacedPod(ofJob)).items[0]!.metadata!;
        const place = { name: name!, namespace };
        await core.createNamespacedPodEviction({ ...place, body: { metadata: place } });
        expect(await loadPods(stack.cluster, namespace)).toHaveLength(1);
        await untilNone(stack.cluster, namespace, 120_000);
        await stack.cancel();
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });
});
