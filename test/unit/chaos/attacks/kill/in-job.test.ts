import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { killInJob } from "../../../../../chaos/attacks/kill/in-job";
import type { Killing, RequestData } from "../../../../../chaos/attacks/kill/victims";
import type { JobContext } from "../../../../../chaos/attacks/job-part";
import { type ObjectReference, type Resource, resources } from "../../../../../chaos/cluster/resources";
import { startClock, stopClock } from "../../support/time";

const killing: Killing = {
    intervalMs: 10_000,
    effect: "killed repeatedly",
    target: "k8s.statefulset=db,k8s.namespace=demo",
    radius: { kind: "count", containers: 1 },
    clusterName: "local",
};

let pods: ReturnType<typeof pod>[];
let killed: string[];
beforeEach(() => {
    stopClock();
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
async function start(request?: RequestData): Promise<void> {
    const api = {
        get: async () => ({ data: request }),
        async *list({ kind }: Resource) {
            if (kind === resources.pod.kind) yield* pods;
        },
        delete: async ({ name }: ObjectReference) => killed.push(name) > 0,
    };
    const nothing = () => undefined;
    const context = { namespace: "demo", run: "run", label: "e.kill", object: {}, api, mayAct: async () => true };
    const reports = { log: nothing, killed: nothing, refused: nothing, missed: nothing, noteOnOwnPod: async () => {} };
    killInJob(killing, { ...context, ...reports } as unknown as JobContext);
    await vi.advanceTimersByTimeAsync(1_000);
}

it("a kill deletes as many pods as the radius allows", async () => {
    await start({ atFirst: "3" });
    expect(killed).toHaveLength(1);
});

it("one of an earlier version's run, which did not note how many there were, does so by those that match", async () => {
    await start();
    expect(killed).toHaveLength(1);
});

it("a Job that starts again kills nobody while a pod that it killed is not replaced", async () => {
    pods[0] = pod("db-0", { deletionTimestamp: "2026-11-21T10:00:00Z" });
    await start({ atFirst: "3" });
    expect(killed).toEqual([]);
});
