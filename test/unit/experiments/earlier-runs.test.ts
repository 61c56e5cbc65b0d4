import { afterEach, beforeEach, expect, it } from "vitest";
import { endEarlierRuns } from "../../../experiments/earlier-runs";
import { FakeRun } from "../chaos/support/fake-run";
import { settled } from "../chaos/support/time";

const owner = { stack: "local/0f3c5a7be2914d86", defaultNamespace: "demo" };
const labels = { "chaos-shop/experiment": "hot-deals-blackhole" };
let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
    run.cluster.add("NetworkPolicy", "attack", { metadata: { labels } });
    run.cluster.add("NetworkPolicy", "own-policy");
    const annotations = { "chaos-shop/targets": "hot-deals-1" };
    run.cluster.add("ConfigMap", "kill-request", { metadata: { labels, annotations } });
    run.cluster.add("ConfigMap", "program", { metadata: { labels } });
    run.cluster.get("Pod", "hot-deals-1").metadata.labels = { "chaos-shop/target": "hot-deals-blackhole.blackhole" };
});
afterEach(() => run.close());

function addLease(holderIdentity: string): void {
    const spec = { holderIdentity, renewTime: new Date().toISOString(), leaseDurationSeconds: 600 };
    run.cluster.add("Lease", "chaos-shop-experiment", { metadata: { annotations: labels }, spec });
}
const end = () => settled(endEarlierRuns(run.cluster.api, owner));
const left = () => [
    ...run.cluster.names("NetworkPolicy"),
    ...run.cluster.names("ConfigMap"),
    ...run.cluster.names("Lease"),
    ...Object.keys(run.cluster.get("Pod", "hot-deals-1").metadata.labels ?? {}),
];

it.each(["stack local (its shop is in demo)", "stack renamed/0f3c5a7be2914d86 (its application is in demo)"])(
    "the attacks of %s are ended, and what a deadline Job needs is left to the engine",
    async (holder) => {
        addLease(holder);
        expect(await end()).toEqual(["hot-deals-blackhole"]);
        expect(left()).toEqual(["own-policy", "program"]);
    },
);

it("another stack's run is left alone", async () => {
    addLease("stack local/aaaaaaaaaaaaaaaa (its application is in demo)");
    const before = left();
    expect(await end()).toEqual([]);
    expect(left()).toEqual(before);
});
