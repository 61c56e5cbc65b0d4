import { beforeEach, describe, expect, it } from "vitest";
import { labelPods } from "../../../../chaos/targets/pods";
import { FakeCluster } from "../support/fake-cluster";

const label = "chaos-experiments/target";

let cluster: FakeCluster;
beforeEach(() => {
    cluster = new FakeCluster();
});

describe("labeling a target", () => {
    it("adds the label and keeps the others", async () => {
        const { uid } = cluster.add("Pod", "hot-deals-1", { metadata: { labels: { app: "hot-deals" } } }).metadata;
        const target = { namespace: "demo", pod: "hot-deals-1", uid: uid! };
        // Two containers of a pod.
        await labelPods(cluster.api, [target, target], () => ({ labels: { [label]: "x.blackhole" } }));
        expect(cluster.calls).toEqual(["patch Pod"]);
        expect(cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({ app: "hot-deals", [label]: "x.blackhole" });
    });

    it("fails if another pod has taken the name", async () => {
        cluster.add("Pod", "hot-deals-1");
        const gone = { namespace: "demo", pod: "hot-deals-1", uid: "an earlier one" };
        const labeling = labelPods(cluster.api, [gone], () => ({ labels: { [label]: "x.blackhole" } }));
        await expect(labeling).rejects.toMatchObject({ code: 409 });
        expect(cluster.get("Pod", "hot-deals-1").metadata.labels).toBeUndefined();
    });
});
