import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { attacksOf } from "../../../../chaos/definition/plan";
import { AttackProofs } from "../../../../chaos/proof/attack-proofs";
import type { Chosen } from "../../../../chaos/targets/choose";
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

/** @param chosen of each attack, in the order of the plan */
function given(chosen: readonly Omit<Chosen, "name">[]) {
    const { plan, cluster } = run;
    const named = chosen.map((one, index) => ({ ...one, name: plan.attacks[index]!.name }));
    return { cluster: cluster.api, plan, job, attacks: attacksOf(plan, "run", named) };
}

function proofs(): AttackProofs {
    const chosen = ["hot-deals-1", "hot-deals-2"].map((pod) => ({ matching: 2, targets: [run.target(pod)] }));
    return new AttackProofs({ ...given(chosen), slowestProbeMs: 30 });
}

/** An attack on DNS leaves connections alone. */
const cutOffAsPlanned = (pod: string, args: readonly string[]) =>
    run.cluster.names("NetworkPolicy").length === 0 || (pod === "hot-deals-2" && args.length === 2);

it("several attacks are proven if each is, in the order of the plan", async () => {
    run.probe = cutOffAsPlanned;
    run.reachable = ["10.0.0.2"];
    expect(await settled(proofs().baseline())).toHaveProperty("tookMs");
    run.attack();
    const both = proofs();
    expect(await settled(both.prove())).toBeUndefined();
    expect(both.shown.map(({ proven }) => proven)).not.toContain(undefined);
    const held = settled(both.whyNotHeld(Date.now() + 5_000));
    expect(await held).toBeUndefined();
});

it("if one of several blocks more than it should, the reason names it", async () => {
    await settled(proofs().baseline());
    run.attack();
    const both = proofs();
    await settled(both.prove());
    const notHeld = await settled(both.whyNotHeld(Date.now() + 5_000));
    expect(notHeld?.code).toBe("positive-control-failed");
    expect(notHeld?.message).toMatch(
        /^for the attack dns, the attack blocks more than it should: a fresh connection from hot-deals-2\/hot-deals/,
    );
});

it("what one attack cuts off need not work under another, whose peer it is", async () => {
    const peers = "k8s.deployment=hot-deals";
    run.plan.attacks[0] = { ...run.plan.attacks[0]!, attack: { kind: "dns" } };
    run.plan.attacks[1] = { ...run.plan.attacks[1]!, attack: { kind: "blackhole", peers, ports: [81] } };
    const asked: string[] = [];
    run.probe = (pod, args) => {
        asked.push([pod, ...args].join(" "));
        return true;
    };
    const chosen = [run.target("hot-deals-1"), run.target("hot-deals-2")].map((target) => ({
        matching: 2,
        targets: [{ ...target, ports: [81, 8080] }],
    }));
    const several = [chosen[0]!, { ...chosen[1]!, peers: chosen[0]!.targets }];
    await settled(new AttackProofs(given(several)).baseline());
    expect(asked).toContain("hot-deals-2 10.0.0.1 81");
    expect(asked).not.toContain("hot-deals-2 10.0.0.1 8080");
});

it("if one of several is not proven, the reason names it", async () => {
    run.attack();
    run.probe = (pod) => pod === "hot-deals-2";
    const both = proofs();
    expect(await settled(both.prove())).toEqual({
        code: "attack-not-proven",
        message: expect.stringMatching(/^for the attack dns, the NetworkPolicy exists, but a DNS lookup/),
    });
    expect(both.shown.map(({ proven }) => proven)).toEqual([undefined, undefined]);
});

it("the baseline fails if the deadline Job does not look at all targets", async () => {
    run.reporting = false;
    run.cluster.get("Pod", job).metadata.annotations = {
        "chaos-experiments/witness": JSON.stringify({ address: "10.0.0.99", watched: [] }),
    };
    run.cluster.logs.set(job, '{"begun":1}\nNetworkPolicies cannot be listed: connect ETIMEDOUT\n{"begun":1}\n');
    await expect(settled(proofs().baseline())).rejects.toThrow(
        `the pod ${job} of the Job that must undo the run at its deadline runs, but has not reported what the ` +
            "run waits for after 120 s; its log says “NetworkPolicies cannot be listed: connect ETIMEDOUT”",
    );
});

it("the kills of an attack are those that the Job reports with its label", async () => {
    run.plan.attacks[1] = { ...run.plan.attacks[1]!, name: "kill", attack: { kind: "kill" } };
    for (const label of ["hot-deals-blackhole.kill", "other.kill"])
        run.report({ at: Date.now(), killed: { pod: "hot-deals-2", uid: label, label } });
    await vi.advanceTimersByTimeAsync(0);
    const both = proofs();
    await both.seeKills();
    expect(both.shown.map(({ kills }) => kills)).toEqual([
        undefined,
        [{ at: Date.now(), pod: "hot-deals-2", uid: "hot-deals-blackhole.kill" }],
    ]);
});

it.each<[string, boolean, object]>([
    ["a port by number", true, { ports: [{ protocol: "UDP", port: 53 }] }],
    ["a port by name", true, { ports: [{ port: "dns" }] }],
    ["everything", true, {}],
    ["other ports", false, { ports: [{ port: 8080 }] }],
])("of an attack on some ports, a policy that selects its target and allows %s: %s", async (_, isSeen, rule) => {
    run.plan.attacks = [run.plan.attacks[1]!];
    run.cluster.add("NetworkPolicy", "out", { spec: { podSelector: {}, policyTypes: ["Egress"], egress: [rule] } });
    const chosen = [{ matching: 2, targets: [run.target("hot-deals-2")] }];
    const found = await settled(new AttackProofs(given(chosen)).whyAllowed());
    expect(found?.code).toBe(isSeen ? "policy-allows" : undefined);
});
