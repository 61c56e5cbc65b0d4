import { describe, expect, it } from "vitest";
import {
    type Candidate,
    candidateOf,
    chooseVictims,
    containersIn,
    type Killing,
} from "../../../../../../chaos/kinds/attacks/kill/victims";
import type { Pod } from "../../../../../../chaos/targets/containers";
import type { Radius } from "../../../../../../chaos/targets/radius";

const killing = (radius: Radius = { kind: "count", containers: 1 }): Killing & { label: string } => ({
    intervalMs: 1_000,
    effect: "killed repeatedly",
    label: "x",
    target: "k8s.deployment=hot-deals,k8s.namespace=demo",
    radius,
    clusterName: "local",
});

interface Changes {
    containers?: number;
    ready?: boolean;
    phase?: string;
    labeled?: boolean;
    labels?: object;
    deletionTimestamp?: string;
    ownerReferences?: object[];
}

function pod(name: string, changes: Changes = {}): Pod {
    const { ready = true, phase = "Running", labeled, labels, containers = 1, ...metadata } = changes;
    const ownerReferences = [{ apiVersion: "apps/v1", kind: "ReplicaSet", name: "set", uid: "set", controller: true }];
    const own = { ...labels, ...(labeled && { "chaos-experiments/target": "x" }) };
    return {
        metadata: { name, namespace: "demo", uid: name, labels: own, ownerReferences, ...(metadata as object) },
        spec: { containers: Array.from({ length: containers }, (_, index) => ({ name: `hot-deals-${index}` })) },
        status: {
            phase,
            podIP: phase === "Running" ? "10.0.0.1" : undefined,
            conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        },
    };
}

const names = (pods: readonly Candidate[]) => pods.map(({ name }) => name);
const candidates = (pods: readonly Pod[], deployment = "hot-deals") =>
    pods.flatMap((one) => candidateOf(one, deployment, killing()) ?? []);
const asTheyAre = <T>(items: readonly T[]) => [...items];
const victims = (pods: Pod[], atFirst = containersIn(candidates(pods)), radius?: Radius) =>
    names(chooseVictims(candidates(pods), atFirst, killing(radius), asTheyAre));

describe("a kill counts", () => {
    it("pods that match the target, including those that start", () => {
        expect(names(candidates([pod("a"), pod("b", { phase: "Pending", ready: false })]))).toEqual(["a", "b"]);
    });

    it.each([
        ["being deleted", pod("a", { deletionTimestamp: new Date().toISOString() })],
        ["completed", pod("a", { phase: "Failed" })],
        ["protected", pod("a", { labels: { "chaos-experiments/protected": "true" } })],
        ["hit by another attack", pod("a", { labels: { "chaos-experiments/target": "y" } })],
        ["one of an experiment's own", pod("a", { labels: { "chaos-experiments/experiment": "x" } })],
    ])("no pod that is %s", (_, one) => expect(candidates([one])).toEqual([]));

    it("no pod that nothing would replace, and a Job's only if the target names Jobs", () => {
        const ownedBy = (...ownerReferences: object[]) => pod("a", { labels: { app: "x" }, ownerReferences });
        const count = (one: Pod, target: string) =>
            candidateOf(one, undefined, { ...killing(), target }) === undefined ? 0 : 1;
        const job = ownedBy({ kind: "Job", name: "once", uid: "j", controller: true });
        const set = ownedBy({ kind: "DaemonSet", name: "every", uid: "d", controller: true });
        const any = "k8s.label.app=x";
        expect([ownedBy(), set, job].map((one) => count(one, any))).toEqual([0, 1, 0]);
        expect([count(job, "k8s.job=once"), count(job, "k8s.job!=other")]).toEqual([1, 0]);
    });

    it("no pod of another Deployment", () => expect(candidates([pod("a")], "other")).toEqual([]));
});

describe("the next kill", () => {
    it("takes the labeled pod first", () => expect(victims([pod("a"), pod("b", { labeled: true })])).toEqual(["b"]));

    it("takes no pod while one that is not ready uses up the radius", () =>
        expect(victims([pod("a"), pod("b", { ready: false })])).toEqual([]));

    it("takes no pod while a killed one has no replacement yet", () => expect(victims([pod("a")], 2)).toEqual([]));

    it("takes as many pods as the radius still allows", () => {
        const three = [pod("a"), pod("b"), pod("c", { ready: false })];
        expect(victims(three, 3, { kind: "count", containers: 2 })).toEqual(["a"]);
    });

    it("counts containers, of which a pod may have several", () => {
        const [a, b, c] = ["a", "b", "c"].map((name) => pod(name, { containers: 2 })) as [Pod, Pod, Pod];
        const two: Radius = { kind: "count", containers: 2 };
        expect(victims([a, b, c], 6, two)).toEqual(["a"]);
        expect(victims([a, b], 6, two)).toEqual([]);
        expect(victims([a, b, c], 6, { kind: "count", containers: 1 })).toEqual([]);
        expect(victims([a, pod("d"), b], 5, { kind: "share", share: 0.6 })).toEqual(["a", "d"]);
    });

    it.each<[Radius, number]>([
        [{ kind: "share", share: 0.5 }, 2],
        [{ kind: "all" }, 4],
        [{ kind: "count", containers: 9 }, 4],
    ])("of four pods, with the radius %j, takes %i", (radius, number) => {
        const four = ["a", "b", "c", "d"].map((name) => pod(name));
        expect(victims(four, 4, radius)).toHaveLength(number);
    });
});
