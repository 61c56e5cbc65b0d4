import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { runNameOf } from "../../../../chaos/definition/plan";
import { acquireLease } from "../../../../chaos/lease/lease";
import { undo } from "../../../../chaos/run/recovery";
import { FakeRun } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
beforeEach(() => {
    run = new FakeRun();
});
afterEach(() => run.close());

const undone = () => settled(undo(run.context));

it("the time of recovery begins with the undoing, and is not negative if the clock is set back meanwhile", async () => {
    for (const pod of ["hot-deals-1", "hot-deals-2"]) run.setReady(pod, false);
    run.after(1_000, () => vi.setSystemTime(Date.now() - 60_000));
    run.after(2_000, () => run.setReady("hot-deals-1", true));
    const begun = Date.now();
    const { at, recoveredAfterMs } = await undone();
    expect(at).toBe(begun);
    expect(recoveredAfterMs).toBeGreaterThanOrEqual(2_000);
    expect(recoveredAfterMs).toBeLessThan(3_000);
});

it("without the plan's Service, the application counts as gone", async () => {
    run.plan.service = { namespace: "demo", name: "gateway", port: 80 };
    expect((await undone()).recoveredAfterMs).toBeNull();
    run.cluster.add("Service", "gateway");
    expect((await undone()).recoveredAfterMs).not.toBeNull();
});

it("nothing is changed, and the checks are awaited, if nothing is left", async () => {
    expect((await undone()).recoveredAfterMs).not.toBeNull();
    expect(run.cluster.calls.filter((call) => !/^(list|get)/.test(call))).toEqual([]);
    expect(run.said).toEqual([]);
});

it("while another stack attacks the namespace, only the policies go that the run's steps have made", async () => {
    const own = `${runNameOf(run.plan, "ours")}-admit-witness-1`;
    for (const name of [own, "theirs-blackhole"]) run.cluster.add("NetworkPolicy", name, { metadata: { labels: {} } });
    await acquireLease(run.cluster.api, { stack: "theirs", plan: run.plan });
    await undone();
    expect(run.cluster.names("NetworkPolicy")).toEqual(["theirs-blackhole"]);
});
