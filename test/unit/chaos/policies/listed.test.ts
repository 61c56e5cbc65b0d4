import { beforeEach, describe, expect, it } from "vitest";
import { whyJobPolicyUnfit, whyPoliciesUnfit } from "../../../../chaos/policies/listed";
import { FakeCluster } from "../support/fake-cluster";

const labels = { "chaos-experiments/experiment": "slow" };
const spec = { podSelector: {} };

let cluster: FakeCluster;
let met: Set<string>;
beforeEach(() => {
    cluster = new FakeCluster();
    met = new Set();
});

describe("a policy that the run has made", () => {
    const names = ["slow-1234-admit-fault-0", "slow-1234-admit-fault-1"];
    const why = () => whyPoliciesUnfit(cluster.api, "demo", "slow-1234", met);
    beforeEach(() => names.forEach((name) => cluster.add("NetworkPolicy", name, { metadata: { labels }, spec })));

    it("ends the run once somebody deletes it", async () => {
        expect(await why()).toBeUndefined();
        names.forEach((name) => cluster.remove("NetworkPolicy", name));
        const deleted = "the run's own NetworkPolicy slow-1234-admit-fault-0 was deleted";
        expect(await why()).toBe(deleted);
        expect(await why()).toBe(deleted);
    });

    it("ends the run once somebody edits it", async () => {
        cluster.get("NetworkPolicy", names[0]!).metadata.generation = 2;
        expect(await why()).toBe("the run's own NetworkPolicy slow-1234-admit-fault-0 was edited");
    });
});

describe("the policy that lets the deadline Job reach the API server", () => {
    const name = "slow-1234-job";
    const why = () => whyJobPolicyUnfit(cluster.api, "demo", name, met);

    it("ends the run once somebody deletes it; it is made after the Job", async () => {
        expect(await why()).toBeUndefined();
        cluster.add("NetworkPolicy", name, { spec });
        expect(await why()).toBeUndefined();
        cluster.remove("NetworkPolicy", name);
        expect(await why()).toBe("the run's own NetworkPolicy slow-1234-job was deleted");
    });

    it("ends the run once somebody edits it", async () => {
        const { metadata } = cluster.add("NetworkPolicy", name, { spec });
        metadata.generation = 1;
        expect(await why()).toBeUndefined();
        metadata.generation = 2;
        expect(await why()).toBe("the run's own NetworkPolicy slow-1234-job was edited");
    });
});
