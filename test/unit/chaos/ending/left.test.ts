import { beforeEach, describe, expect, it } from "vitest";
import { endAttacks } from "../../../../chaos/ending/end";
import { leftOf } from "../../../../chaos/ending/left";
import { FakeCluster } from "../support/fake-cluster";

const ofExperiment = (experiment: string) => ({ metadata: { labels: { "chaos-experiments/experiment": experiment } } });
const kindsLeft = ["NetworkPolicy", "ConfigMap", "Job", "RoleBinding", "Role", "ServiceAccount"] as const;

let cluster: FakeCluster;
const sweepUp = () => endAttacks(cluster.api, leftOf({ namespace: "demo", experiment: "hot-deals-blackhole" }));

beforeEach(() => {
    cluster = new FakeCluster();
    cluster.add("Pod", "gateway-1");
    cluster.add("ConfigMap", "settings");
    cluster.add("NetworkPolicy", "other-run", ofExperiment("toys-blackhole"));
    cluster.add("NetworkPolicy", "elsewhere", ofExperiment("hot-deals-blackhole"), "other");
});

/** Everything that a killed update may have left behind. */
function leaveAll(): void {
    for (const kind of kindsLeft) cluster.add(kind, "left", ofExperiment("hot-deals-blackhole"));
    cluster.add("Pod", "hot-deals-1", {
        metadata: { labels: { "chaos-experiments/target": "hot-deals-blackhole.blackhole" } },
    });
    const labels = { "chaos-experiments/set.replicas": "1-3-u", "chaos-experiments/set-by": "hot-deals-blackhole-1" };
    cluster.add("Deployment", "hot-deals", { metadata: { uid: "u", labels }, spec: { replicas: 3 } });
}

describe("a sweep", () => {
    it("removes an experiment's objects and labels, restores what it scaled, and counts all of them", async () => {
        leaveAll();
        expect(await sweepUp()).toBe(8);
        expect(kindsLeft.flatMap((kind) => cluster.names(kind))).toEqual(["other-run", "elsewhere", "settings"]);
        expect(cluster.get("Pod", "hot-deals-1").metadata.labels).toEqual({});
        expect(cluster.get("Deployment", "hot-deals")).toMatchObject({
            metadata: { labels: {} },
            spec: { replicas: 1 },
        });
        expect(await sweepUp()).toBe(0);
    });

    it("ends the attacks before it removes anything else, and the deadline Job's program last", async () => {
        leaveAll();
        const { labels } = ofExperiment("hot-deals-blackhole").metadata;
        const annotations = { "chaos-experiments/targets": "hot-deals-1" };
        cluster.add("ConfigMap", "kill-request", { metadata: { labels, annotations } });
        await sweepUp();
        const changes = cluster.calls.filter((call) => !/^(list|get)/.test(call));
        expect(changes.slice(0, 3).sort()).toEqual(["delete ConfigMap", "patch Deployment", "patch Deployment"]);
        expect(changes.slice(3)).toEqual([
            "delete NetworkPolicy",
            "patch Pod",
            "delete Job",
            "delete RoleBinding",
            "delete Role",
            "delete ServiceAccount",
            "delete ConfigMap",
        ]);
    });

    it("changes nothing if nothing is left", async () => {
        expect(await sweepUp()).toBe(0);
        expect(cluster.calls.filter((call) => !call.startsWith("list"))).toEqual([]);
    });

    it("does not count a Job that is being deleted", async () => {
        const { metadata } = ofExperiment("hot-deals-blackhole");
        cluster.add("Job", "ending", { metadata: { ...metadata, deletionTimestamp: new Date() } });
        expect(await sweepUp()).toBe(0);
    });

    it("removes the labels of earlier experiments with other names", async () => {
        cluster.add("Pod", "toys-1", {
            metadata: { labels: { "chaos-experiments/target": "toys-blackhole.blackhole" } },
        });
        expect(await sweepUp()).toBe(1);
        expect(cluster.get("Pod", "toys-1").metadata.labels).toEqual({});
    });
});
