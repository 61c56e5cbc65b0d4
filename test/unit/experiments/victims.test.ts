import { describe, expect, it } from "vitest";
import type { Killing } from "../../../experiments/deadline/report";
import { chooseVictims, matchingPods } from "../../../experiments/deadline/victims";
import type { Pod } from "../../../shared/containers";
import type { Radius } from "../../../shared/radius";

const killing = (radius: Radius = { kind: "count", containers: 1 }): Killing => ({
    intervalMs: 1_000,
    mark: "x",
    target: "k8s.deployment=hot-deals,k8s.namespace=demo",
    radius,
    clusterName: "local",
});
const replicaSets = [{ metadata: { uid: "set", ownerReferences: [{ kind: "Deployment", name: "hot-deals" }] } }];

function pod(
    name: string,
    {
        ready = true,
        phase = "Running",
        marked = false,
        labels = {},
        ...metadata
    }: { ready?: boolean; phase?: string; marked?: boolean; labels?: object; deletionTimestamp?: string } = {},
): Pod {
    return {
        metadata: {
            name,
            namespace: "demo",
            uid: name,
            labels: { ...labels, ...(marked && { "chaos-shop/target": "x" }) },
            ownerReferences: [{ kind: "ReplicaSet", name: "set", uid: "set" }],
            ...metadata,
        },
        spec: { containers: [{ name: "hot-deals" }] },
        status: {
            phase,
            podIP: phase === "Running" ? "10.0.0.1" : undefined,
            conditions: [{ type: "Ready", status: ready ? "True" : "False" }],
        },
    };
}

const names = (pods: readonly Pod[]) => pods.map(({ metadata }) => metadata!.name);
const asTheyAre = <T>(items: readonly T[]) => [...items];
const victims = (pods: Pod[], atFirst = pods.length, radius?: Radius) =>
    names(chooseVictims(matchingPods(pods, replicaSets, killing(radius)), atFirst, killing(radius), asTheyAre));

describe("a kill is about", () => {
    it("pods that match the target, those that start among them", () => {
        expect(
            names(matchingPods([pod("a"), pod("b", { phase: "Pending", ready: false })], replicaSets, killing())),
        ).toEqual(["a", "b"]);
    });

    it.each([
        ["being deleted", pod("a", { deletionTimestamp: "2026-11-21T10:00:00Z" })],
        ["over", pod("a", { phase: "Failed" })],
        ["protected", pod("a", { labels: { "chaos-shop/protected": "true" } })],
        ["hit by another attack", pod("a", { labels: { "chaos-shop/target": "y" } })],
        ["an experiment's own", pod("a", { labels: { "chaos-shop/experiment": "x" } })],
    ])("no pod that is %s", (_, one) => expect(matchingPods([one], replicaSets, killing())).toEqual([]));

    it("no pod of another Deployment", () => expect(matchingPods([pod("a")], [], killing())).toEqual([]));
});

describe("the next kill", () => {
    it("takes one pod where the radius is not said otherwise, and the marked one first", () =>
        expect(victims([pod("a"), pod("b", { marked: true })])).toEqual(["b"]));

    it("takes nobody while the radius is used up by one that does not serve yet", () =>
        expect(victims([pod("a"), pod("b", { ready: false })])).toEqual([]));

    it("takes nobody while one that was killed has no successor yet", () => expect(victims([pod("a")], 2)).toEqual([]));

    it("takes what is left of the radius", () =>
        expect(victims([pod("a"), pod("b"), pod("c", { ready: false })], 3, { kind: "count", containers: 2 })).toEqual([
            "a",
        ]));

    it.each<[Radius, number]>([
        [{ kind: "share", share: 0.5 }, 2],
        [{ kind: "all" }, 4],
        [{ kind: "count", containers: 9 }, 4],
    ])("of four pods, with the radius %j, takes %i", (radius, number) => {
        expect(
            victims(
                ["a", "b", "c", "d"].map((name) => pod(name)),
                4,
                radius,
            ),
        ).toHaveLength(number);
    });
});
