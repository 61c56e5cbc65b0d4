import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Action } from "../../../chaos/index";
import { leaseName } from "../../../chaos/lease/lease-record";
import { until } from "../../support/until";
import { LoadedStack, loadPods, slow, untilNoLoad } from "../loaded-stack";
import { TestStack } from "../shop/support";
import { itInAll } from "../which-tests";

/** Answers at once, or after 200 ms, and counts the requests of each second. */
const serving = `
    const counts = {};
    require("http").createServer((request, answer) => {
        if (request.url === "/counts") return answer.end(JSON.stringify(counts));
        const second = Math.floor(Date.now() / 1000);
        counts[second] = (counts[second] ?? 0) + 1;
        setTimeout(() => answer.end("{}"), request.url === "/slow" ? 200 : 0);
    }).listen(8080);`;

describe("a load on a Service", () => {
    const namespace = "e2e-load";
    let stack: LoadedStack;

    const load = (more: Partial<Extract<Action, { kind: "load" }>> = {}): Action => ({
        kind: "load",
        name: "visitors",
        service: "api",
        path: "/",
        perSecond: 50,
        ...more,
    });

    beforeAll(async () => {
        stack = await LoadedStack.open(namespace, serving);
        const denied = { podSelector: {}, policyTypes: ["Ingress", "Egress"] };
        const body = { metadata: { name: "default-deny" }, spec: denied };
        await stack.cluster.networking.createNamespacedNetworkPolicy({ namespace, body });
    });
    afterAll(() => stack?.close());

    it("shows by its latencies that a slow Service fails, though policies deny all else, and ends", async () => {
        const limits = { successRate: 0.95, latency: { p95: { atMost: "150ms" } } };
        const { verdict, reason, checks } = await stack.conclusionOf({
            attacks: slow,
            actions: [load(limits)],
        });
        expect([verdict, reason]).toEqual(["FAILED", expect.stringMatching(/within 150 ms \(required: 95%/)]);
        expect(checks.find(({ name }) => name === "visitors")).toMatchObject({ held: false });
        const { due, sent, latencyMs } = stack.delivery;
        expect(sent / due).toBeGreaterThan(0.98);
        expect(latencyMs!.p50).toBeGreaterThan(290);
        await stack.untilNoLoad();
    });

    it("shows that it answers in time, if that is enough", async () => {
        const limits = { successRate: 0.95, latency: { p95: { atMost: "3s" } } };
        const { verdict, reason } = await stack.conclusionOf({ attacks: slow, actions: [load(limits)] });
        expect([verdict, reason]).toEqual(["PASSED", expect.stringContaining("were sent on time")]);
        await stack.untilNoLoad();
    });

    it("attacks nobody if its rate cannot be sent: ABORTED, with what would do", async () => {
        const impossible = load({ path: "/slow", perSecond: 200, connections: 2 });
        const failing = await stack.failureOf({ attacks: slow, actions: [impossible] });
        expect(failing).toMatch(/ABORTED \(load-not-delivered\): .*waited for answers.*Allow more `connections`/s);
        await stack.untilNoLoad();
    });

    it("is INCONCLUSIVE if it is not sent to the end", async () => {
        const run = stack.conclusionOf({ actions: [load({ successRate: 0.5 })], window: { duration: "8s" } });
        const pod = await until("it is sent", async () => (await loadPods(stack.cluster, namespace))[0], {
            timeoutMs: 120_000,
        });
        // The update says so once the checks are under way.
        await until("checks", () => stack.said.includes("Nothing is attacked"), { timeoutMs: 120_000 });
        await sleep(4_000);
        await stack.cluster.core.deleteNamespacedPod({ namespace, name: pod.metadata!.name!, gracePeriodSeconds: 0 });
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
        await untilNoLoad(stack.cluster, namespace);
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
        await untilNoLoad(stack.cluster, namespace, 120_000);
        await stack.cancel();
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });
});
