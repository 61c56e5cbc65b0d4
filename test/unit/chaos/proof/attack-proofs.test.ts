import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { AttackProofs } from "../../../../chaos/proof/attack-proofs";
import { FakeRun, job } from "../support/fake-run";
import { settled } from "../support/time";

let run: FakeRun;
beforeEach(async () => {
    run = new FakeRun();
    const [blackhole] = run.plan.attacks;
    run.plan.attacks = [blackhole!, { ...blackhole!, name: "dns", attack: { kind: "dns" } }];
    await run.label("hot-deals-1", "hot-deals-blackhole.blackhole");
    await run.label("hot-deals-2", "hot-deals-blackhole.dns");
});
afterEach(() => run.close());

function proofs(): AttackProofs {
    const chosen = ["hot-deals-1", "hot-deals-2"].map((pod) => ({ matching: 2, targets: [run.target(pod)] }));
    return new AttackProofs(run.cluster.api, run.plan, job, chosen, 30);
}

it("several attacks are proven if each is, in the order of the plan", async () => {
    expect(await settled(proofs().control())).toHaveProperty("tookMs");
    run.attack();
    const proven = await settled(proofs().proven());
    expect(proven).toHaveLength(2);
    const held = settled(proofs().hold(proven as never, Date.now() + 5_000));
    expect(await held).toBeUndefined();
});

it("if one of several is not proven, the reason names it", async () => {
    run.attack();
    run.probe = (pod) => pod === "hot-deals-2";
    expect(await settled(proofs().proven())).toEqual({
        inconclusive: expect.stringMatching(/^for the attack dns, the NetworkPolicy exists, but a DNS lookup/),
    });
});

it("the control fails if the deadline Job does not look at all targets", async () => {
    run.reporting = false;
    run.cluster.get("Pod", job).metadata.annotations = {
        "chaos-shop/witness": JSON.stringify({ address: "10.0.0.99", watched: [] }),
    };
    await expect(settled(proofs().control())).rejects.toThrow(/has no running pod after 120 s/);
});

it("the kills of an attack are those that the Job reports with its label", async () => {
    run.plan.attacks[1] = { ...run.plan.attacks[1]!, name: "kill", attack: { kind: "kill" } };
    for (const label of ["hot-deals-blackhole.kill", "other.kill"])
        run.report({ at: Date.now(), killed: { pod: "hot-deals-2", uid: label, label } });
    await vi.advanceTimersByTimeAsync(0);
    expect(await proofs().kills()).toEqual([
        undefined,
        [{ at: Date.now(), pod: "hot-deals-2", uid: "hot-deals-blackhole.kill" }],
    ]);
});
