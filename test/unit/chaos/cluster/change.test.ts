import { expect, it } from "vitest";
import { change } from "../../../../chaos/cluster/change";
import { resources } from "../../../../chaos/cluster/resources";
import { FakeCluster } from "../support/fake-cluster";

const policy = { resource: resources.networkPolicy, namespace: "demo", name: "others" };

it("a change that an object never has in the end is given up, with the object's name", async () => {
    const cluster = new FakeCluster();
    cluster.add("NetworkPolicy", "others");
    const always = change(cluster.api, policy, () => ({ metadata: { labels: { same: "again" } } }));
    await expect(always).rejects.toThrow("NetworkPolicy others in namespace demo is not as wanted after 10 patches");
});

it("an object that does not exist is not changed", async () => {
    expect(await change(new FakeCluster().api, policy, () => ({}))).toBe(false);
});
