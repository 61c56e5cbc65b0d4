import { beforeEach, describe, expect, it } from "vitest";
import { labelPods, unlabelAll } from "../../../../chaos/targets/label";
import { FakeCluster } from "../support/fake-cluster";

const label = "chaos-experiments/target";
const labeled = (value: string) => ({ metadata: { labels: { app: "hot-deals", [label]: value } } });

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

describe("labeling a target", () => {
    it("adds the label and keeps the others", async () => {
        const { uid } = cluster.add("Pod", "hot-deals-1", { metadata: { labels: { app: "hot-deals" } } }).metadata;
        const target = { namespace: "demo", pod: "hot-deals-1", uid: uid! };
        // Two containers of a pod.
        await labelPods(cluster.api, [target, target], () => ({ [label]: "x.blackhole" }));
        expect(cluster.calls).toEqual(["patchNamespacedPod"]);
        expect(cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({ app: "hot-deals", [label]: "x.blackhole" });
    });

    it("fails if another pod has taken the name", async () => {
        cluster.add("Pod", "hot-deals-1");
        const gone = { namespace: "demo", pod: "hot-deals-1", uid: "an earlier one" };
        await expect(labelPods(cluster.api, [gone], () => ({ [label]: "x.blackhole" }))).rejects.toMatchObject({
            code: 409,
        });
        expect(cluster.get("Pod", "hot-deals-1").metadata.labels).toBeUndefined();
    });
});

describe("unlabeling all targets", () => {
    beforeEach(() => {
        cluster.add("Pod", "hot-deals-1", labeled("x.blackhole"));
        cluster.add("Pod", "gateway-1", labeled("y.dns"));
        cluster.add("Pod", "toys-1", { metadata: { labels: { app: "toys" } } });
        cluster.add("Pod", "elsewhere", labeled("x.blackhole"), "other");
    });

    it("removes the label of every experiment in the namespace, and counts the pods", async () => {
        expect(await unlabelAll(cluster.api, "demo")).toBe(2);
        expect(cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({ app: "hot-deals" });
        expect(cluster.get("Pod", "gateway-1").metadata.labels).toEqual({ app: "hot-deals" });
        expect(cluster.get("Pod", "elsewhere", "other").metadata.labels).toHaveProperty([label]);
    });

    it("removes all labels of runs, also from a pod that has lost one of them", async () => {
        const of = { app: "toys", "chaos-experiments/attacked": "x.blackhole", "chaos-experiments/combined": "1" };
        cluster.add("Pod", "toys-1", { metadata: { labels: of } });
        expect(await unlabelAll(cluster.api, "demo")).toBe(3);
        expect(cluster.get("Pod", "toys-1").metadata.labels).toEqual({ app: "toys" });
    });

    it("ignores a pod that is gone meanwhile", async () => {
        cluster.intercept = (call) => {
            if (call === "patchNamespacedPod") cluster.remove("Pod", "hot-deals-1");
        };
        expect(await unlabelAll(cluster.api, "demo")).toBe(2);
        expect(cluster.get("Pod", "gateway-1").metadata.labels).toEqual({ app: "hot-deals" });
    });
});
