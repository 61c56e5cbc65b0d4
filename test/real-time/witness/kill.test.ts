import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Killing } from "../../../chaos/kinds/attacks/kill/victims";
import type { Missed } from "../../../chaos/witness/protocol";
import { JobProcess, killPath, leaseOfDemo, podPath } from "./support/job-process";

const told: Killing = {
    intervalMs: 300,
    effect: "killed repeatedly",
    target: "k8s.namespace=demo",
    radius: { kind: "all" },
    clusterName: "local",
};

let job: JobProcess;
beforeEach(async () => {
    job = new JobProcess();
    for (const pod of ["a", "b"]) job.addPod(pod, { label: "" });
});
afterEach(() => job.close());

const start = () => job.start([{ kind: "kill", path: killPath, label: "x.kill", told }]);
const kills = () => job.requests.filter((request) => /^DELETE .*\/pods\//.test(request)).length;

it("pods are killed once the request is there, while the lease names the run", async () => {
    job.addLease();
    await start();
    await job.until("it looks", () => job.requests.length > 10);
    expect(kills()).toBe(0);
    job.addAttack(killPath);
    await job.until("both are killed", () => kills() === 2);
});

describe("no pod is killed although the request is there", () => {
    it.each([
        ["without a lease, as in a new cluster, or when the run is undone", () => undefined],
        ["while the lease names another run", () => job.addLease("another")],
        ["while the lease names no run", () => job.objects.set(leaseOfDemo, { metadata: {}, spec: {} })],
        ["when the lease has expired: the run is long over", () => job.addLease("run", new Date(Date.now() - 90_000))],
        [
            "while the API server does not say who holds the lease",
            () => {
                job.addLease();
                job.refuse = (request) => (request.endsWith(leaseOfDemo) ? 500 : undefined);
            },
        ],
    ])("%s", async (_, prepare) => {
        prepare();
        job.addAttack(killPath);
        await start();
        await job.until("it looks, or ends", () => job.requests.length > 10 || job.exitCode === 0);
        await sleep(500);
        expect(kills()).toBe(0);
    });
});

describe("a kill that is due and cannot be made", () => {
    const missed = () => job.output.split("\n").filter((line) => line.includes('"missed"'));

    it.each<[string, (request: string) => boolean, string]>([
        ["since deleting is refused", (request) => /^DELETE .*\/pods\//.test(request), "cannot be deleted: 403"],
        ["since the pods cannot be listed", (request) => request === "GET /api/v1/namespaces/demo/pods", "403"],
    ])("%s, is reported once after 5 s, with the reason", async (_, isRefused, problem) => {
        job.addLease();
        job.addAttack(killPath);
        await start();
        await job.until("both are killed", () => kills() === 2);
        const begun = Date.now();
        job.refuse = (request) => (isRefused(request) ? 403 : undefined);
        job.addPod("c", { label: "" });
        await job.until("it is reported", () => missed().length > 0);
        await sleep(1_000);
        expect(missed()).toHaveLength(1);
        const { at, missed: told } = JSON.parse(missed()[0]!) as Missed;
        expect(told).toMatchObject({ label: "x.kill", problem: expect.stringContaining(problem) });
        expect(told.forMs).toBeGreaterThanOrEqual(5_000);
        expect(Math.abs(at - begun)).toBeLessThan(2_000);
    });

    it("is not reported while the radius is used up, or before the attack", async () => {
        job.addLease();
        job.objects.get(podPath("a")).status.conditions = [];
        job.addAttack(killPath);
        const few = { ...told, radius: { kind: "count", containers: 1 } };
        await job.start([{ kind: "kill", path: killPath, label: "x.kill", told: few }]);
        await sleep(6_500);
        expect([kills(), missed()]).toEqual([0, []]);
    });
});

describe("by eviction", () => {
    const evicting = { ...told, by: "eviction" };
    const message = "Cannot evict pod as it would violate the pod's disruption budget.";
    const budget = "The disruption budget hot-deals needs 2 healthy pods and has 2 currently";
    const causes = [{ reason: "DisruptionBudget", message: budget }];
    const byBudget = { code: 429, message, details: { causes } };
    const problem = `${message} ${budget}`;
    const evictions = (pod = ".*") =>
        job.requests.filter((request) => new RegExp(`^POST .*/pods/${pod}/eviction$`).test(request)).length;
    const reports = (of: string) =>
        job.output.split("\n").flatMap((line) => (line.includes(`"${of}":`) ? JSON.parse(line)[of] : []));

    async function begin(more: Partial<Killing> = {}): Promise<void> {
        job.addLease();
        job.addAttack(killPath);
        await job.start([{ kind: "kill", path: killPath, label: "x.kill", told: { ...evicting, ...more } }]);
    }

    it("pods are evicted, and none is deleted", async () => {
        await begin();
        await job.until("both are evicted", () => reports("killed").length === 2);
        expect([evictions(), kills()]).toEqual([2, 0]);
    });

    it("a refusal is reported once for each pod, with the budget's words, and is no kill", async () => {
        job.refuseEviction = (pod) => (pod === "b" ? byBudget : undefined);
        await begin();
        await job.until("one is evicted, and the other was asked for again", () => evictions("b") >= 3);
        expect(reports("killed")).toMatchObject([{ pod: "a", label: "x.kill" }]);
        expect(reports("refused")).toEqual([{ pod: "b", uid: "b", label: "x.kill", problem }]);
        expect(reports("missed")).toEqual([]);
    });

    it("a kill counts as missed if all are refused while no pod is missing: nothing is attacked then", async () => {
        job.refuseEviction = () => byBudget;
        await begin();
        await job.until("it is reported", () => reports("missed").length > 0);
        expect(reports("missed")).toMatchObject([{ label: "x.kill", problem }]);
        // At the interval, and not at each look.
        expect(evictions("a")).toBeLessThanOrEqual(25);
    });

    it("and not while one is: the budget does its work", async () => {
        job.addPod("c", { label: "" });
        job.objects.get(podPath("c")).status.conditions = [];
        job.refuseEviction = () => byBudget;
        await begin();
        await job.until("all were refused for some seconds", () => evictions("a") >= 22, 30_000);
        expect(reports("missed")).toEqual([]);
    });

    it("a busy API server, which answers with the same status, refuses nothing", async () => {
        job.refuseEviction = (pod) => (pod === "a" ? { code: 429 } : undefined);
        await begin();
        await job.until("it was tried again", () => evictions("a") >= 3);
        expect(reports("refused")).toEqual([]);
    });
});

describe("of pods on certain nodes", () => {
    const onNodes = { ...told, isOnNodes: true };
    const request = () => job.objects.get(killPath);

    it("only these are killed, also later ones", async () => {
        job.addPod("c", { label: "", nodeName: "node-2" });
        job.addLease();
        job.addAttack(killPath);
        request().data = { nodes: "node-2,node-3" };
        await job.start([{ kind: "kill", path: killPath, label: "x.kill", told: onNodes }]);
        await job.until("it is killed", () => kills() === 1);
        job.addPod("d", { label: "", nodeName: "node-3" });
        await job.until("the next one is killed", () => kills() === 2);
        await sleep(1_000);
        expect([...job.objects.keys()]).toEqual(expect.arrayContaining([podPath("a"), podPath("b")]));
    });

    it("none is killed if the request does not name them", async () => {
        job.addLease();
        job.addAttack(killPath);
        await job.start([{ kind: "kill", path: killPath, label: "x.kill", told: onNodes }]);
        await job.until("it looks", () => job.requests.length > 20);
        expect(kills()).toBe(0);
    });
});
