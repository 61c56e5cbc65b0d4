import type { V1NetworkPolicy, V1NetworkPolicySpec } from "../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import {
    madeFrom,
    noteOf,
    type OwnPolicy,
    ownPolicy,
    type RestsOn,
    whyUnfit,
} from "../../../../chaos/policies/own-policies";
import { exemption } from "../../../../chaos/policies/exemption";
import { knownPolicies } from "../../../../chaos/policies/known";
import { also } from "../../../../chaos/policies/selector";

const web = { matchLabels: { app: "web" } };
const fromFront = {
    from: [{ podSelector: { matchLabels: { app: "front" } } }],
    ports: [{ protocol: "TCP", port: 80 }],
};
const into: V1NetworkPolicySpec = { podSelector: web, policyTypes: ["Ingress"], ingress: [fromFront] };
const policy = (spec: V1NetworkPolicySpec, name = "web-in", uid = "1"): V1NetworkPolicy => ({
    metadata: { name, uid },
    spec,
});

/** A policy of the run as the cluster has it, beside `web-in`. */
function own(restsOn: RestsOn, spec: V1NetworkPolicySpec = into): OwnPolicy {
    const podSelector = also(spec.podSelector!, exemption("7b1e"));
    const metadata = { name: "run-admit-1", annotations: noteOf(restsOn) };
    return ownPolicy({ metadata, spec: { ...spec, podSelector } })!;
}

const why = (one: OwnPolicy, ...others: V1NetworkPolicy[]) => whyUnfit([one], knownPolicies(others));

describe("a policy of a run that only adds to others", () => {
    it.each<[string, V1NetworkPolicy[]]>([
        ["is there", [policy(into)]],
        ["has other rules", [policy({ ...into, ingress: [] })]],
        ["leaves out the run's targets", [policy({ ...into, podSelector: also(web, exemption("7b1e")) })]],
        ["is gone, while another selects the same pods", [policy({ ...into, podSelector: {} }, "default-deny")]],
    ])("fits as long as the one that isolates its pods %s", (_, others) =>
        expect(why(own({ adds: true }), ...others)).toBeUndefined(),
    );

    it.each<[string, V1NetworkPolicy[]]>([
        ["is gone", []],
        ["selects other pods", [policy({ ...into, podSelector: { matchLabels: { app: "web", tier: "a" } } })]],
        ["isolates them in the other direction", [policy({ ...into, policyTypes: ["Egress"] })]],
    ])("would cut its pods off if the one that isolates these %s", (_, others) =>
        expect(why(own({ adds: true }), ...others)).toContain(
            "without which the run's own run-admit-1 would deny its pods",
        ),
    );

    it("needs one for each direction", () => {
        const both = { ...into, policyTypes: ["Ingress", "Egress"] };
        const out = policy({ podSelector: {}, policyTypes: ["Egress"] }, "out");
        expect(why(own({ adds: true }, both), policy(into), out)).toBeUndefined();
        expect(why(own({ adds: true }, both), policy(into))).toBeDefined();
    });
});

describe("a policy of a run that has what another allowed", () => {
    const made = own({ from: madeFrom([policy(into)]) });

    it("fits as long as that says the same, in whichever order its fields come", () => {
        const json = { ...into, ingress: [{ ports: [{ port: 80, protocol: "TCP" }], from: fromFront.from }] };
        expect(why(made, policy(json, "web-in", "2"))).toBeUndefined();
    });

    it.each<[string, V1NetworkPolicy[]]>([
        ["deleted", []],
        ["changed", [policy({ ...into, ingress: [] })]],
        ["changed", [policy({ ...into, podSelector: {} })]],
    ])("does not once that is %s", (became, others) =>
        expect(why(made, ...others)).toBe(
            `the NetworkPolicy web-in, from which the run had made its own run-admit-1, was ${became}`,
        ),
    );
});

it("a policy without a note rests on none", () => {
    expect(ownPolicy({ metadata: { name: "attack" }, spec: into })).toBeUndefined();
});
