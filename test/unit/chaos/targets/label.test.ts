import { beforeEach, describe, expect, it } from "vitest";
import { labelPod, unlabelAll } from "../../../../chaos/targets/label";
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
        await labelPod(cluster.api, { namespace: "demo", pod: "hot-deals-1", uid: uid! }, "x.blackhole");
        expect(cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({ app: "hot-deals", [label]: "x.blackhole" });
    });

    it("fails if another pod has taken the name", async () => {
        cluster.add("Pod", "hot-deals-1");
        const gone = { namespace: "demo", pod: "hot-deals-1", uid: "an earlier one" };
        await expect(labelPod(cluster.api, gone, "x.blackhole")).rejects.toMatchObject({ code: 409 });
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

    it("ignores a pod that is gone meanwhile", async () => {
        cluster.intercept = (call) => {
            if (call === "patchNamespacedPod") cluster.remove("Pod", "hot-deals-1");
        };
        expect(await unlabelAll(cluster.api, "demo")).toBe(2);
        expect(cluster.get("Pod", "gateway-1").metadata.labels).toEqual({ app: "hot-deals" });
    });
});
