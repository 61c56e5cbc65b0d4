import { afterEach, beforeEach, expect, it } from "vitest";
import { acquireLease } from "../../../../chaos/lifecycle/lease";
import { unlabelTargets } from "../../../../chaos/steps/unlabel-targets";
import { FakeRun } from "../support/fake-run";

let run: FakeRun;
beforeEach(async () => {
    run = new FakeRun();
    await run.label();
    const annotations = { "chaos-experiments/scaled": JSON.stringify({ from: 1, to: 2 }) };
    run.cluster.get("Deployment", "hot-deals").metadata.annotations = annotations;
});
afterEach(() => run.close());

const step = () => unlabelTargets(run.context, {});
const labels = () => run.cluster.get("Pod", "hot-deals-1").metadata.labels;
const replicas = () => run.cluster.get("Deployment", "hot-deals").spec.replicas;

it("removes the labels and restores what was scaled", async () => {
    expect(await step()).toEqual({ unlabeled: 1, restored: 1 });
    expect([labels(), replicas()]).toEqual([{}, 1]);
});

it("leaves an experiment alone that another stack has begun since", async () => {
    await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
    expect(await step()).toEqual({ unlabeled: 0, restored: 0 });
    expect([labels(), replicas()]).toEqual([{ "chaos-experiments/target": "hot-deals-blackhole.blackhole" }, 2]);
});
