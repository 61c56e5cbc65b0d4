import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { killInJob } from "../../../../../../chaos/kinds/attacks/kill/kill-in-job";
import type { Killing, RequestData } from "../../../../../../chaos/kinds/attacks/kill/victims";
import type { JobContext, Permission } from "../../../../../../chaos/kinds/attacks/job-part";
import { type ObjectReference, type Resource, resources } from "../../../../../../chaos/cluster/resources";
import { parseRadius } from "../../../../../../chaos/targets/radius";
import { startClock, stopClock } from "../../../support/time";

const killing: Killing = {
    intervalMs: 10_000,
    effect: "killed repeatedly",
    target: "k8s.statefulset=db,k8s.namespace=demo",
    radius: { kind: "count", containers: 1 },
    clusterName: "local",
};

let pods: ReturnType<typeof pod>[];
let killed: string[];
let missed: string[];
/** Whether a killed pod is gone at once, and none comes in its place. */
let areGone: boolean;
let replicaSets: object[];
let permission: Permission;
beforeEach(() => {
    stopClock();
    permission = "granted";
    missed = [];
    areGone = false;
    replicaSets = [];
    pods = ["db-0", "db-1", "db-2"].map((name) => pod(name));
    killed = [];
});
afterEach(startClock);

function pod(name: string, more: object = {}) {
    const owner = { apiVersion: "apps/v1", kind: "StatefulSet", name: "db", uid: "db", controller: true };
    return {
        metadata: { name, uid: name, namespace: "demo", ownerReferences: [owner], ...more },
        spec: { containers: [{ name: "db" }] },
        status: { phase: "Running", podIP: "10.0.0.1", conditions: [{ type: "Ready", status: "True" }] },
    };
}

/** Starts the Job's part, and waits for some looks. @param request what the attack's object says */
async function start(request?: RequestData, told = killing): Promise<void> {
    const api = {
        get: async () => ({ data: request }),
        async *list({ kind }: Resource) {
            yield* kind === resources.pod.kind ? pods : replicaSets;
        },
        delete: async ({ name }: ObjectReference) => {
            if (areGone) pods = pods.filter(({ metadata }) => metadata.name !== name);
            return killed.push(name) > 0;
        },
    };
    const nothing = () => undefined;
    const note = ({ problem }: { problem: string }) => missed.push(problem);
    const of = { namespace: "demo", run: "run", label: "e.kill", object: {} };
    const context = { ...of, api, permission: async () => permission };
    const reports = { log: nothing, killed: nothing, refused: nothing, missed: note, noteOnOwnPod: async () => {} };
    killInJob(told, { ...context, ...reports } as unknown as JobContext);
    await vi.advanceTimersByTimeAsync(1_000);
}

it.each<[string, RequestData?]>([
    ["a kill", { atFirst: "3" }],
    ["one of an earlier version's run, which did not note how many there were,"],
])("%s deletes as many pods as the radius allows", async (_, request) => {
    await start(request);
    expect(killed).toHaveLength(1);
});

it("a Job that starts again kills nobody while a pod that it killed is not replaced", async () => {
    pods[0] = pod("db-0", { deletionTimestamp: "2026-11-21T10:00:00Z" });
    await start({ atFirst: "3" });
    expect(killed).toEqual([]);
});

describe("a workload that is scaled down under a kill", () => {
    const owned = (name: string) =>
        pod(name, { ownerReferences: [{ kind: "ReplicaSet", name: "web-1", uid: "web-1", controller: true }] });
    const replicaSet = (replicas: number) => ({
        metadata: { uid: "web-1", ownerReferences: [{ kind: "Deployment", name: "web" }] },
        spec: { replicas },
    });
    const web = { ...killing, target: "k8s.deployment=web,k8s.namespace=demo" };
    /** Two pods of a Deployment that wants some. */
    const wanting = (...replicas: number[]) => {
        pods = ["web-a", "web-b"].map(owned);
        replicaSets = replicas.map(replicaSet);
    };

    it("has pods killed of those that are wanted now", async () => {
        wanting(2);
        await start({ atFirst: "4" }, web);
        expect(killed).toHaveLength(1);
    });

    it("has none killed while one that is wanted is missing", async () => {
        wanting(3);
        await start({ atFirst: "4" }, web);
        expect(killed).toEqual([]);
    });

    it("counts the pods of a Deployment's rollout, whose ReplicaSets have some each", async () => {
        wanting(2, 2);
        Object.assign(replicaSets[1]!, { metadata: { ...replicaSet(2).metadata, uid: "web-0" } });
        await start({ atFirst: "4" }, web);
        expect(killed).toEqual([]);
    });

    it("is reported if nothing says how many are wanted, and none comes for 30 s: the kill has stopped", async () => {
        pods.pop();
        await start({ atFirst: "3" });
        await vi.advanceTimersByTimeAsync(25_000);
        expect(missed).toEqual([]);
        await vi.advanceTimersByTimeAsync(10_000);
        expect([killed, missed]).toEqual([
            [],
            ["2 of 3 containers are there that matched at first, all ready, and none starts"],
        ]);
    });

    it("is no news while a killed pod still stops, and its replacement waits for that", async () => {
        const seconds = (count: number) => new Date(Date.now() + count * 1_000).toISOString();
        pods[0] = pod("db-0", { deletionTimestamp: seconds(70) });
        await start({ atFirst: "3" });
        await vi.advanceTimersByTimeAsync(65_000);
        expect(missed).toEqual([]);
        // Its node may be gone.
        await vi.advanceTimersByTimeAsync(40_000);
        expect(missed).toHaveLength(1);
    });

    it("still wants the pods of another one that has none at the moment", async () => {
        wanting(2);
        const other = { metadata: { uid: "api-1", ownerReferences: [{ kind: "Deployment", name: "api" }] } };
        pods.push(
            pod("api-a", {
                labels: { "chaos-experiments/target": "e.kill" },
                ownerReferences: [{ kind: "ReplicaSet", name: "api-1", uid: "api-1", controller: true }],
            }),
        );
        replicaSets.push({ ...other, spec: { replicas: 1 } });
        const both = { ...web, intervalMs: 1_000, target: "k8s.namespace=demo" };
        areGone = true;
        await start({ atFirst: "3" }, both);
        await vi.advanceTimersByTimeAsync(20_000);
        expect(killed).toEqual(["api-a"]);
    });

    it.each([
        { radius: "50%", before: 4, after: 1, why: "the radius allows 0 of the 1 containers wanted now" },
        { radius: "1", before: 3, after: 0, why: "no pod of its target is wanted any more" },
    ])("is reported once the kill cannot go on: $radius of $before, scaled to $after", async (one) => {
        pods = Array.from({ length: one.before }, (_, index) => owned(`web-${index}`));
        replicaSets = [replicaSet(one.before)];
        await start({ atFirst: String(one.before) }, { ...web, radius: parseRadius(one.radius)! });
        const before = killed.length;
        pods = pods.slice(0, one.after);
        replicaSets = [replicaSet(one.after)];
        await vi.advanceTimersByTimeAsync(15_000);
        expect(missed).toEqual([]);
        await vi.advanceTimersByTimeAsync(300_000);
        expect([killed.length, missed]).toEqual([before, [one.why]]);
    });

    it("goes on with the one pod that is left, if the radius allows it", async () => {
        wanting(2);
        await start({ atFirst: "2" }, web);
        pods.pop();
        replicaSets = [replicaSet(1)];
        await vi.advanceTimersByTimeAsync(60_000);
        expect([killed.length, missed]).toEqual([7, []]);
    });

    it("is no news if it is scaled back within an interval", async () => {
        wanting(2);
        await start({ atFirst: "2" }, web);
        replicaSets = [replicaSet(0)];
        await vi.advanceTimersByTimeAsync(15_000);
        replicaSets = [replicaSet(2)];
        await vi.advanceTimersByTimeAsync(60_000);
        expect(missed).toEqual([]);
    });

    it("is no news while a replacement starts", async () => {
        pods[0]!.status.conditions = [];
        await start({ atFirst: "3" });
        await vi.advanceTimersByTimeAsync(60_000);
        expect(missed).toEqual([]);
    });
});

it("a kill whose pods get more containers than the radius allows is reported: it has stopped", async () => {
    const two = () => ({ ...pod("db-0"), spec: { containers: [{ name: "db" }, { name: "exporter" }] } });
    pods = [two(), two()];
    await start({ atFirst: "4" });
    await vi.advanceTimersByTimeAsync(20_000);
    const why = "the radius allows 1 of the 4 containers wanted now, and each pod has more";
    expect([killed, missed]).toEqual([[], [why]]);
});

it.each([
    { intervalMs: 1_000, afterMs: 5_000 },
    { intervalMs: 600_000, afterMs: 30_000 },
])("one that cannot go on is reported after an interval: $intervalMs ms", async ({ intervalMs, afterMs }) => {
    permission = "lease-expired";
    await start({ atFirst: "3" }, { ...killing, intervalMs });
    await vi.advanceTimersByTimeAsync(afterMs - 2_000);
    expect(missed).toEqual([]);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(missed).toHaveLength(1);
});

describe("a kill that has begun", () => {
    it("is reported if the namespace's lease expires, which must not stop it in silence", async () => {
        await start({ atFirst: "3" });
        permission = "lease-expired";
        await vi.advanceTimersByTimeAsync(30_000);
        expect([killed.length, missed]).toEqual([1, ["the namespace's lease names the run, but has expired"]]);
    });

    it("is over without a report", async () => {
        await start({ atFirst: "3" });
        permission = "no-attack";
        await vi.advanceTimersByTimeAsync(300_000);
        expect([killed.length, missed]).toEqual([1, []]);
    });
});
