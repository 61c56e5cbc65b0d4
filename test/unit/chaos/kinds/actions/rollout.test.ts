import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { rollout, type RolloutAction } from "../../../../../chaos/kinds/actions/rollout";
import { rolloutState } from "../../../../../chaos/cluster/rollout-state";
import type { FoundWorkload, WorkloadKind } from "../../../../../chaos/cluster/workload";
import { FakeCluster } from "../../support/fake-cluster";
import { settled, startClock, stopClock } from "../../support/time";

const complete = {
    Deployment: { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
    StatefulSet: { observedGeneration: 2, replicas: 3, updatedReplicas: 3, availableReplicas: 3 },
    DaemonSet: { observedGeneration: 2, desiredNumberScheduled: 3, updatedNumberScheduled: 3, numberAvailable: 3 },
};

describe("a rollout is complete when all pods are new and available, and no old one is left:", () => {
    const state = (kind: WorkloadKind, status: FoundWorkload["status"] = {}, spec: FoundWorkload["spec"] = {}) =>
        rolloutState(kind, {
            metadata: { generation: 2 },
            spec: { replicas: 3, ...spec },
            status: { ...complete[kind], ...status },
        });

    it.each(["Deployment", "StatefulSet", "DaemonSet"] as const)("%s", (kind) => expect(state(kind)).toBe("complete"));

    it.each<[string, WorkloadKind, NonNullable<FoundWorkload["status"]>, string]>([
        ["the controller has not seen it", "Deployment", { observedGeneration: 1 }, "it has not begun"],
        ["a pod is old", "Deployment", { updatedReplicas: 2 }, "2 of 3 pods are new"],
        ["an old pod is left", "Deployment", { replicas: 4 }, "1 old pod is left"],
        ["a new pod is not available", "StatefulSet", { availableReplicas: 2 }, "2 of 3 pods are available"],
        ["a node has an old pod", "DaemonSet", { updatedNumberScheduled: 1 }, "1 of 3 pods are new"],
        ["a node has none that is available", "DaemonSet", { numberAvailable: 0 }, "0 of 3 pods are available"],
    ])("not if %s", (_, kind, status, missing) => expect(state(kind, status)).toEqual({ missing }));

    it("pods of a StatefulSet below its partition stay as they are", () =>
        expect(
            state("StatefulSet", { updatedReplicas: 1 }, { updateStrategy: { rollingUpdate: { partition: 2 } } }),
        ).toBe("complete"));

    it("never, if it exceeds the progress deadline", () => {
        const reason = { reason: "ProgressDeadlineExceeded", message: "has timed out" };
        const conditions = [{ type: "Progressing", status: "False", ...reason }];
        expect(state("Deployment", { conditions })).toEqual({ failed: expect.stringContaining("has timed out") });
    });
});

describe("the action", () => {
    let cluster: FakeCluster;
    beforeEach(() => {
        stopClock();
        cluster = new FakeCluster();
        const fields = { spec: { replicas: 3, template: {} }, status: complete.Deployment };
        cluster.add("Deployment", "gateway", { ...fields, metadata: { generation: 2 } });
    });
    afterEach(startClock);

    const perform = (action: Partial<RolloutAction> = {}, signal?: AbortSignal) =>
        settled(
            rollout.perform!(
                { kind: "rollout", deployment: "gateway", ...action },
                { cluster: cluster.api, namespace: "demo", run: "x-1", endsAt: Date.now() + 20_000, signal },
            ),
        );
    const gateway = () => cluster.get("Deployment", "gateway");

    it("changes an annotation that no apply has, and waits for the rollout", async () => {
        gateway().status = { ...complete.Deployment, updatedReplicas: 0 };
        setTimeout(() => (gateway().status = complete.Deployment), 5_000);
        const begun = Date.now();
        await perform();
        expect(Date.now() - begun).toBeGreaterThanOrEqual(5_000);
        expect(gateway().spec.template.metadata.annotations).toEqual({
            "chaos-experiments/restarted-at": new Date(begun).toISOString(),
        });
    });

    it("fails when its time is over, or when the checks end, and says what is missing", async () => {
        gateway().status = { ...complete.Deployment, updatedReplicas: 1 };
        await expect(perform({ timeoutMs: 3_000 })).rejects.toThrow(
            /^the rollout was not complete after [23](\.\d)? s: 1 of 3 pods are new$/,
        );
        await expect(perform()).rejects.toThrow(/when the checks ended; make the window longer$/);
    });

    it("stops waiting when the run is aborted", async () => {
        gateway().status = { ...complete.Deployment, updatedReplicas: 1 };
        const abort = new AbortController();
        setTimeout(() => abort.abort(), 1_000);
        const begun = Date.now();
        await expect(perform({}, abort.signal)).rejects.toThrow();
        expect(Date.now() - begun).toBeLessThan(2_000);
    });

    it.each(["deployment", "statefulset", "daemonset"])("takes any name that a %s may have", (field) => {
        for (const name of ["orders.v2", "a".repeat(253)])
            expect(rollout.schema.safeParse({ kind: "rollout", [field]: name }).success).toBe(true);
    });

    it.each<[string, object, RegExp]>([
        ["nothing", {}, /names nothing to restart; allowed: one of deployment, statefulset, daemonset/],
        ["two workloads", { deployment: "a", statefulset: "b" }, /names deployment and statefulset; allowed: one of/],
        [
            "no name",
            { deployment: "A_" },
            /"A_" is not a Deployment name; allowed: lower-case letters, digits, dashes and dots/,
        ],
        ["no time", { deployment: "a", timeoutMs: 10 }, />=1000/],
    ])("must not name %s", (_, fields, reason) => {
        const { error } = rollout.schema.safeParse({ kind: "rollout", ...fields });
        expect(error!.issues.map(({ message }) => message).join()).toMatch(reason);
    });
});
