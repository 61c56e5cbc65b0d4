import { expect, it } from "vitest";
import { annotations } from "../../../../chaos/cluster/labels";
import type { Presence } from "../../../../chaos/job/protocol";
import { JobPod } from "../../../../chaos/proof/job-pod";
import { FakeCluster } from "../support/fake-cluster";

it.each<[string, Partial<Presence>, string[]]>([
    ["all that its pod has", { addresses: ["fd00::9", "10.0.0.9"] }, ["fd00::9", "10.0.0.9"]],
    ["the one that an earlier version's Job notes", {}, ["fd00::9"]],
])("the witness may connect from %s", async (_, noted, addresses) => {
    const cluster = new FakeCluster();
    const presence: Presence = { address: "fd00::9", watched: [], ...noted };
    const metadata = {
        labels: { "batch.kubernetes.io/job-name": "job" },
        annotations: { [annotations.witness]: JSON.stringify(presence) },
    };
    cluster.add("Pod", "job-1", { metadata, status: { phase: "Running" } });
    const job = new JobPod(cluster.api, "demo", "job");
    expect(await job.addresses(0)).toEqual(addresses);
});
