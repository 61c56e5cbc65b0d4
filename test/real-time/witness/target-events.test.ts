import { afterEach, beforeEach, expect, it } from "vitest";
import { annotations } from "../../../chaos/cluster/labels";
import { JobProcess, killPath, leaseOfDemo, podPath, policyPath } from "./support/job-process";

const eventsPath = "/api/v1/namespaces/demo/events";

let job: JobProcess;
beforeEach(() => {
    job = new JobProcess();
    job.addLease();
});
afterEach(() => job.close());

const events = () => [...job.objects].flatMap(([path, object]) => (path.startsWith(eventsPath) ? [object] : []));
const blackhole = { kind: "blackhole", path: policyPath, label: "x.blackhole" };

it("targets have an Event that says how they are attacked when that begins, and another when it ends", async () => {
    job.addPod("a");
    await job.start([blackhole]);
    await job.until("it has looked", () => job.requests.length > 10);
    expect(events()).toEqual([]);
    job.addAttack(policyPath);
    await job.until("the beginning is noted", () => events().length > 0);
    expect(job.objects.get(podPath("a")).metadata.annotations).toHaveProperty(annotations.begun);
    const involvedObject = { apiVersion: "v1", kind: "Pod", namespace: "demo", name: "a", uid: "a" };
    expect(events()).toEqual([
        {
            metadata: { name: "run.a.began", namespace: "demo" },
            involvedObject,
            type: "Warning",
            reason: "ChaosAttackBegan",
            message: expect.stringMatching(
                /^Chaos experiment x: this pod is cut off from the network, until \d{4}-[-\d]+T[\d:]+Z at the latest$/,
            ),
            source: { component: "chaos-experiments" },
            count: 1,
            firstTimestamp: expect.any(String),
            lastTimestamp: expect.any(String),
        },
    ]);
    job.objects.delete(leaseOfDemo);
    await job.until("it ends", () => job.exitCode === 0);
    expect(events()[1]).toMatchObject({ involvedObject, type: "Normal", reason: "ChaosAttackEnded" });
    expect(job.objects.get(podPath("a")).metadata.annotations).not.toHaveProperty(annotations.begun);
});

it("a killed pod has an Event, too, although it never was labeled", async () => {
    job.addPod("b", { label: "" });
    job.addAttack(killPath);
    const told = { intervalMs: 1_000, effect: "", target: "k8s.namespace=demo", clusterName: "local" };
    const what = "deleted, then one replacement every second";
    await job.start([
        { kind: "kill", path: killPath, label: "x.kill", what, told: { ...told, radius: { kind: "all" } } },
    ]);
    await job.until("it is noted", () => events().length > 0);
    expect(events()).toMatchObject([{ involvedObject: { name: "b" }, message: expect.stringContaining(what) }]);
});

it.each([
    ["a pod that loses its label at that moment has no Event", true],
    ["a pod that is changed at that moment has one all the same", false],
])("%s", async (_, isEnded) => {
    job.addPod("a");
    job.addAttack(policyPath);
    const patching = `PATCH ${podPath("a")}`;
    job.refuse = (request) => {
        const { metadata } = job.objects.get(podPath("a"));
        if (request !== patching || metadata.resourceVersion !== "1") return undefined;
        metadata.resourceVersion = "2";
        if (isEnded) metadata.labels = {};
        return undefined;
    };
    await job.start([blackhole]);
    await job.until("it is noted", () => (isEnded ? job.requests.includes(patching) : events().length > 0));
    const before = job.requests.length;
    await job.until("it goes on", () => job.requests.length > before + 10);
    expect(events()).toHaveLength(isEnded ? 0 : 1);
    expect(annotations.begun in job.objects.get(podPath("a")).metadata.annotations).toBe(!isEnded);
});

it("a target whose eviction is refused has no Event: nothing happened to it", async () => {
    job.addPod("a", { label: "x.kill" });
    job.addAttack(killPath);
    const causes = [{ reason: "DisruptionBudget", message: "the budget needs it" }];
    job.refuseEviction = () => ({ code: 429, message: "refused", details: { causes } });
    const told = { intervalMs: 1_000, by: "eviction", effect: "", target: "k8s.namespace=demo", clusterName: "local" };
    await job.start([{ kind: "kill", path: killPath, label: "x.kill", told: { ...told, radius: { kind: "all" } } }]);
    const tries = () => job.requests.filter((request) => request.endsWith("/a/eviction")).length;
    await job.until("it is tried twice", () => tries() > 1);
    expect(events()).toEqual([]);
});

it("an Event that is refused is tried once, and the Job goes on", async () => {
    for (const pod of ["a", "b"]) job.addPod(pod);
    job.refuse = (request) => (request === `POST ${eventsPath}` ? 403 : undefined);
    job.addAttack(policyPath);
    await job.start([blackhole]);
    const tried = () => job.requests.filter((request) => request === `POST ${eventsPath}`).length;
    await job.until("it is tried", () => tried() > 0);
    const before = job.requests.length;
    await job.until("it goes on", () => job.requests.length > before + 10);
    // Both are under way at the same time.
    expect(tried()).toBeLessThanOrEqual(2);
    job.objects.delete(leaseOfDemo);
    await job.until("it ends", () => job.exitCode === 0);
    expect(job.labelOf("a")).toBeUndefined();
});
