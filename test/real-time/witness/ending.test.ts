import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { jobPolicyPath, JobProcess, killPath, leaseOfDemo, podPath, policyPath } from "./support/job-process";

const attacks = [{ kind: "blackhole", path: policyPath, label: "x.blackhole" }];
const deploymentPath = "/apis/apps/v1/namespaces/demo/deployments/gateway";
const changed = JSON.stringify([deploymentPath]);

const told = { intervalMs: 60_000, target: "k8s.namespace=demo", clusterName: "local", radius: { kind: "all" } };
const kill = { kind: "kill", path: killPath, label: "x.kill", told };

let job: JobProcess;
beforeEach(() => {
    job = new JobProcess();
    job.addLease();
    job.addAttack(policyPath);
    for (const pod of ["a", "b", "c"]) job.addPod(pod);
    job.objects.set(deploymentPath, {
        metadata: {
            uid: "u",
            labels: { "chaos-experiments/set.replicas": "1-3-u", "chaos-experiments/set-by": "run" },
        },
        spec: { replicas: 3 },
    });
});
afterEach(() => job.close());

/** Runs the Job's program until the deadline, a second after its start. */
const start = () => job.start(attacks, { DEADLINE_MS: "1000", CHANGED: changed });
const labeled = () => ["a", "b", "c"].filter((pod) => job.labelOf(pod) !== undefined);
const replicas = () => job.objects.get(deploymentPath).spec.replicas as number;

it("at the deadline the attack, the labels and the scaling are undone, and the Job completes", async () => {
    await start();
    await job.until("the program ends", () => job.exitCode !== undefined);
    expect([job.exitCode, job.objects.has(policyPath), labeled(), replicas()]).toEqual([0, false, [], 1]);
});

it.each([
    ["behind", 3_600_000],
    ["ahead", -3_600_000],
])("a node whose clock is %s does not move the deadline, also if the Job starts again there", async (_, aheadMs) => {
    job.clockAheadMs = aheadMs;
    const created = (agoMs: number) => new Date(Date.now() + aheadMs - agoMs).toISOString();
    job.objects.get(policyPath).metadata.creationTimestamp = created(598_000);
    await job.start(attacks);
    await job.until("the Job looks", () => job.output.includes('"open"') || job.output.includes('"closed"'));
    expect(job.objects.has(policyPath)).toBe(true);
    await job.until("the program ends", () => job.exitCode !== undefined);
    expect([job.exitCode, job.objects.has(policyPath)]).toEqual([0, false]);
});

it("a look at the attack that fails does not move the deadline", async () => {
    const { metadata } = job.objects.get(policyPath);
    job.refuse = (request) => (request === `GET ${policyPath}` ? 500 : undefined);
    await start();
    await job.until("it looks three times", () => job.output.split("cannot be read: 500").length > 3);
    expect([job.exitCode, job.objects.has(policyPath)]).toEqual([undefined, true]);
    metadata.creationTimestamp = new Date().toISOString();
    job.refuse = () => undefined;
    await job.until("the program ends", () => job.exitCode === 0);
    expect(job.objects.has(policyPath)).toBe(false);
});

it("an attack may begin later than its deadline lasts", async () => {
    job.objects.delete(policyPath);
    await start();
    await job.until("it looks three times", () => job.requests.filter((one) => one === `GET ${policyPath}`).length > 3);
    expect([job.exitCode, labeled()]).toEqual([undefined, ["a", "b", "c"]]);
});

describe("a program that gets nothing from the API server for 5 min", () => {
    /** For it, these pass in a second. */
    const hasten = (ms: number) => ["--import", `data:text/javascript,${encodeURIComponent(hastening(ms))}`];
    const hastening = (ms: number) => `
        const usual = setTimeout;
        globalThis.setTimeout = (work, wait, ...rest) => usual(work, wait === ${ms} ? 1_000 : wait, ...rest);`;

    it("completes the Job if it has no rights: an earlier one has given them up", async () => {
        job.refuse = () => 403;
        await job.start(attacks, {}, hasten(300_000));
        await job.until("the program ends", () => job.exitCode !== undefined);
        expect(job.exitCode).toBe(0);
    });

    it("goes on if it cannot be told: nothing else would end the attack", async () => {
        job.refuse = () => 503;
        await job.start(attacks, {}, hasten(300_000));
        await sleep(4_000);
        expect(job.exitCode).toBeUndefined();
        job.refuse = () => undefined;
        job.objects.delete(leaseOfDemo);
        await job.until("the program ends", () => job.exitCode === 0);
        expect(job.objects.has(policyPath)).toBe(false);
    });
});

it("without attacks, what was scaled is restored when the deadline has passed since the lease was taken", async () => {
    job.refuse = (request) => (request.includes("/pods") ? 403 : undefined);
    await job.start([], { DEADLINE_MS: "1000", CHANGED: changed });
    await job.until("the program ends", () => job.exitCode !== undefined);
    expect([job.exitCode, replicas()]).toEqual([0, 1]);
    expect(job.output).toContain("the deadline has passed: what was changed is restored");
    expect(job.output).not.toContain("403");
});

describe("what cannot be undone does not keep the rest from it, and is tried again:", () => {
    it.each<[string, string, unknown[]]>([
        ["a policy", `DELETE ${policyPath}`, [true, [], 1]],
        ["one pod's label", `PATCH ${podPath("a")}`, [false, ["a"], 1]],
        ["a Deployment", `PATCH ${deploymentPath}`, [false, [], 3]],
        ["the list of pods", "GET /api/v1/namespaces/demo/pods", [false, ["a", "b", "c"], 1]],
    ])("%s", async (_, refused, expected) => {
        job.refuse = (request) => (request === refused ? 403 : undefined);
        await start();
        const left = () => [job.objects.has(policyPath), labeled(), replicas()];
        await job.until("the rest is undone", () => isDeepStrictEqual(left(), expected));
        await job.until("the failure is told", () => /tried again: .*: 403/.test(job.output));
        expect(job.exitCode).toBeUndefined();
        job.refuse = () => undefined;
        await job.until("the program ends", () => job.exitCode === 0);
        expect(left()).toEqual([false, [], 1]);
    });
});

describe("in a namespace with other policies", () => {
    const otherPath = "/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/theirs";
    const line = { key: "chaos-experiments/attacked", operator: "DoesNotExist" };

    it("they are restored, and no pod keeps a label of the run, though somebody has removed another", async () => {
        const noted = JSON.stringify({ run: "run", selector: {}, owners: [] });
        job.objects.set(otherPath, {
            metadata: { name: "theirs", annotations: { "chaos-experiments/exempting": noted } },
            spec: { podSelector: { matchExpressions: [line] } },
        });
        job.addPod("d", { label: "" });
        job.objects.get(podPath("d")).metadata.labels["chaos-experiments/attacked"] = "x.blackhole";
        await start();
        await job.until("the program ends", () => job.exitCode === 0);
        expect(job.objects.get(otherPath)).toMatchObject({ metadata: { annotations: {} }, spec: { podSelector: {} } });
        expect(job.objects.get(podPath("d")).metadata.labels).toEqual({});
    });

    it("labels go before the attack's policy: others would still let go of pods that it cuts off no more", async () => {
        await start();
        await job.until("the program ends", () => job.exitCode === 0);
        const first = (request: string) => job.requests.findIndex((one) => one.startsWith(request));
        expect(first("PATCH /api/v1/namespaces/demo/pods/c")).toBeLessThan(first(`DELETE ${policyPath}`));
    });

    it("those of another run stay as they are; its own go with its rights, which it gives up last", async () => {
        const theirs = { run: "another", selector: {}, owners: [] };
        const spec = { podSelector: { matchLabels: { app: "web" }, matchExpressions: [line] } };
        const annotations = { "chaos-experiments/exempting": JSON.stringify(theirs) };
        job.objects.set(otherPath, { metadata: { name: "theirs", annotations }, spec: structuredClone(spec) });
        const binding = "/apis/rbac.authorization.k8s.io/v1/namespaces/demo/rolebindings/run-deadline";
        job.objects.set(binding, { metadata: { name: "run-deadline" } });
        await start();
        await job.until("the program ends", () => job.exitCode === 0);
        expect(job.objects.get(otherPath).spec).toEqual(spec);
        const changes = job.requests.filter((request) => /^(PATCH|DELETE)/.test(request));
        expect(changes.at(-1)).toBe(`DELETE ${binding}`);
    });

    it("they are not listed if no attack denies traffic: the Job has no right to", async () => {
        job.addAttack(killPath);
        job.refuse = (request) => (/^(GET|PATCH) .*networkpolicies$/.test(request) ? 403 : undefined);
        await job.start([kill], { DEADLINE_MS: "1000" });
        await job.until("the program ends", () => job.exitCode === 0);
        expect(job.output).not.toContain("403");
    });
});

it.each([
    ["kills pods", [kill]],
    ["only acts", []],
])("a run that %s ends once somebody edits the policy that lets the Job through", async (_, ofRun) => {
    job.addAttack(killPath);
    await job.start(ofRun, { CHANGED: changed });
    await job.until("it looks", () => job.requests.includes(`GET ${jobPolicyPath}`));
    expect(job.exitCode).toBeUndefined();
    job.objects.get(jobPolicyPath).metadata.generation = 2;
    await job.until("the program ends", () => job.exitCode === 0);
    expect(replicas()).toBe(1);
    expect(job.output).toContain("the run's own NetworkPolicy run-job was edited");
});
