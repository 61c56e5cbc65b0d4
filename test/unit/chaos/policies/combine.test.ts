import type { V1NetworkPolicy } from "../../../../chaos/values/kubernetes-types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { combine } from "../../../../chaos/policies/combine";
import type { Denial } from "../../../../chaos/policies/denial";
import type { PolicyRules } from "../../../../chaos/policies/rules";
import type { Target } from "../../../../chaos/targets/containers";
import { permits, readings } from "../kinds/attacks/network";

const policy = (name: string, spec: object, app?: string): V1NetworkPolicy => ({
    metadata: { name, namespace: "shop" },
    spec: {
        podSelector: app === undefined ? {} : { matchLabels: { app } },
        policyTypes: ["Ingress", "Egress"],
        ...spec,
    },
});
const target = { uid: "web-1", labels: { app: "web" } };
const database = { namespace: "shop", address: "10.0.0.5", labels: { app: "database" } };
const peers = {
    pods: [database as unknown as Target],
    label: { key: "app", values: ["database"] },
};
const witness = { peers: [{ podSelector: { matchLabels: { job: "witness" } } }] };
const everything: Denial = { ways: ["ingress", "egress"] };

const combined = (policies: V1NetworkPolicy[], denial: Denial, of = peers) =>
    combine(policies, [target], { denial, peers: of, witness });
const names = (policies: V1NetworkPolicy[]) => policies.map(({ metadata }) => metadata!.name);

/** The other end of a connection out of the target. */
interface End {
    /** Empty if it is no pod. */
    namespace: string;
    address: string;
    labels: Record<string, string>;
    protocol: "TCP" | "UDP" | "SCTP";
    port: number;
}

function allowsEgress(rules: PolicyRules, { namespace, address, labels, ...connection }: End): boolean {
    const pod = { metadata: { namespace, labels }, status: { podIPs: [{ ip: address }] } };
    const other = namespace === "" ? address : pod;
    return permits(rules, readings["Calico and kube-router"], "egress", other, connection, "shop");
}

const apps = ["database", "gateway", "toys"];
const selector = fc.option(
    fc.constantFrom(...apps).map((app) => ({ matchLabels: { app } })),
    { nil: undefined },
);
const peer = fc.oneof(
    selector.map((podSelector) => ({ podSelector: podSelector ?? {} })),
    selector.map((podSelector) => ({ namespaceSelector: {}, ...(podSelector && { podSelector }) })),
    fc.constantFrom("0.0.0.0/0", "10.0.0.0/8").map((cidr) => ({ ipBlock: { cidr } })),
);
const number = fc.constantFrom(1, 53, 80, 5431, 5432, 5433, 65_535);
const port = fc
    .record({ protocol: fc.constantFrom("TCP", "UDP", "SCTP"), first: fc.option(number), length: fc.nat(10) })
    .map(({ protocol, first, length }) => ({
        protocol,
        ...(first !== null && { port: first, endPort: Math.min(65_535, first + length) }),
    }));
const rule = fc.record(
    { to: fc.array(peer, { minLength: 1, maxLength: 3 }), ports: fc.array(port, { minLength: 1, maxLength: 3 }) },
    { requiredKeys: [] },
);
const end: fc.Arbitrary<End> = fc.record({
    namespace: fc.constantFrom("shop", "other"),
    address: fc.constantFrom("10.0.0.5", "10.0.0.6"),
    labels: fc.constantFrom(...apps).map((app) => ({ app })),
    protocol: fc.constantFrom("TCP", "UDP", "SCTP"),
    port: number,
});

/** An end whose labels, address and namespace belong together: the peer, or not the peer. */
const consistent = (one: End): End =>
    one.labels.app === "database" && one.namespace === "shop"
        ? { ...one, address: database.address }
        : { ...one, address: "10.0.0.6" };

describe("what an attack leaves of the policies that apply to its targets", () => {
    const denials: [string, Denial][] = [
        ["ports", { ways: ["egress"], ports: [53, 5432] }],
        ["ports of one protocol", { ways: ["egress"], ports: [53, 5432], protocols: ["UDP"] }],
        ["peers", { ways: ["egress"], withPeers: true }],
        ["ports of peers", { ways: ["egress"], ports: [5432], withPeers: true }],
        ["one direction", { ways: ["egress"] }],
        ["the other direction", { ways: ["ingress"] }],
    ];
    it.each(denials)("is what they allow, but for what it denies: %s", (_, denial) => {
        fc.assert(
            fc.property(fc.array(rule, { maxLength: 4 }), end, (egress, some) => {
                const other = consistent(some);
                const before = { policyTypes: ["Egress" as const], egress };
                const { rules } = combined([policy("theirs", { egress })], denial).combined[0]!;
                const isPeerOfAttack = !denial.withPeers || other.address === database.address;
                const { ports, protocols = ["TCP", "UDP"] } = denial;
                const isDeniedPort = !ports || (ports.includes(other.port) && protocols.includes(other.protocol));
                const isDenied = denial.ways.includes("egress") && isPeerOfAttack && isDeniedPort;
                expect(allowsEgress(rules, other)).toBe(allowsEgress(before, other) && !isDenied);
            }),
        );
    });

    it("is what they allow, but for denied addresses", () => {
        const denial: Denial = { ways: ["egress"], withPeers: true, blocks: [{ cidr: "10.9.0.0/16", ports: [5432] }] };
        const outside = fc.constantFrom("10.9.9.9", "10.8.0.1", "192.0.2.1").map((address) => ({ address }));
        fc.assert(
            fc.property(fc.array(rule, { maxLength: 4 }), end, fc.option(outside), (egress, pod, others) => {
                const other = others ? { ...pod, ...others, namespace: "" } : pod;
                const before = { policyTypes: ["Egress" as const], egress };
                const { rules } = combined([policy("theirs", { egress })], denial).combined[0]!;
                const isDenied = other.address === "10.9.9.9" && other.port === 5432 && other.protocol !== "SCTP";
                expect(allowsEgress(rules, other)).toBe(allowsEgress(before, other) && !isDenied);
            }),
        );
    });

    it("allows connections with the witness besides, which the attack may deny", () => {
        const others = [policy("theirs", {})];
        const rulesAfter = (denial: Denial) => combined(others, denial).combined[0]!.rules;
        expect(rulesAfter({ ways: ["ingress"] })).toEqual({
            policyTypes: ["Ingress", "Egress"],
            egress: [{ to: witness.peers }],
        });
        expect(rulesAfter({ ways: ["egress"], withPeers: true }).egress).toEqual([{ to: witness.peers }]);
    });

    it("allows everything in a direction that no policy isolates, but for what the attack denies", () => {
        const ingressOnly = policy("theirs", { policyTypes: ["Ingress"], ingress: [{}] });
        const { rules } = combined([ingressOnly], { ways: ["egress"], ports: [53] }).combined[0]!;
        expect(rules.ingress).toEqual([{}, { from: witness.peers }]);
        expect(rules.egress![0]!.to).toBeUndefined();
        expect(rules.egress![0]!.ports).toContainEqual({ protocol: "TCP", port: 54, endPort: 65_535 });
    });

    it("is one policy for the targets that the same policies apply to, and none where no policy applies", () => {
        const policies = [policy("web", { egress: [{}] }, "web"), policy("api", { egress: [{}] }, "api")];
        const targets = ["web", "api", "web", "other"].map((app, index) => ({ uid: `${index}`, labels: { app } }));
        const { combined: groups } = combine(policies, targets, { denial: { ways: ["ingress"] }, peers, witness });
        expect(groups.map(({ pods }) => pods)).toEqual([["0", "2"], ["1"]]);
    });

    it("is nothing under an attack that denies everything: no policy is needed for that", () => {
        expect(combined([policy("theirs", { ingress: [{}] })], everything).combined).toEqual([]);
    });
});

it("an address that is a peer's is left out of blocks that have it: no exception is as large as its block", () => {
    const to = ["10.0.0.5/32", "10.0.0.0/8", "::/0"].map((cidr) => ({ ipBlock: { cidr } }));
    const egress = [{ to }];
    const { rules } = combined([policy("theirs", { egress })], { ways: ["egress"], withPeers: true }).combined[0]!;
    const left = { ipBlock: { cidr: "10.0.0.0/8", except: ["10.0.0.5/32"] } };
    expect(rules.egress![0]).toEqual({ to: [left, { ipBlock: { cidr: "::/0" } }] });
});

describe("a policy must let go of targets", () => {
    it("if it allows some of what the attack denies", () => {
        const policies = [
            policy("in", { ingress: [{}] }),
            policy("out", { egress: [{}] }),
            policy("default-deny", {}),
            policy("others", { ingress: [{}] }, "api"),
        ];
        expect(names(combined(policies, everything).toExempt)).toEqual(["in", "out"]);
        expect(names(combined(policies, { ways: ["egress"], ports: [53] }).toExempt)).toEqual(["out"]);
    });

    it("unless its own line does that", () => {
        const line = { key: "chaos-experiments/attacked", operator: "DoesNotExist" };
        const policies = [policy("theirs", { ingress: [{}], podSelector: { matchExpressions: [line] } })];
        expect(combined(policies, everything).toExempt).toEqual([]);
        expect(combined(policies, { ways: ["egress"] }).combined).toHaveLength(1);
    });
});

it("a named port of a target has the number of each target's pod", () => {
    const named = policy("theirs", { ingress: [{ ports: [{ port: "http" }, { port: "admin" }] }] });
    const pod = (uid: string, ...numbers: number[]) => ({
        ...target,
        uid,
        spec: {
            containers: [{ name: "it", ports: numbers.map((containerPort) => ({ name: "http", containerPort })) }],
        },
    });
    const denial: Denial = { ways: ["ingress"], ports: [8080] };
    const pods = [pod("web-1", 8080), pod("web-2", 9090), pod("web-3", 9090), pod("web-4")];
    const groups = combine([named], pods, { denial, peers, witness }).combined;
    const allowed = groups.map(({ pods, rules }) => [pods, rules.ingress!.map(({ ports }) => ports).slice(0, -1)]);
    expect(allowed).toEqual([
        [["web-1", "web-4"], []],
        [["web-2", "web-3"], [[{ protocol: "TCP", port: 9090 }]]],
    ]);
});

describe("an attack that cannot be combined with a policy is refused, and the policy named:", () => {
    it("a port by name, of which the attack denies some", () =>
        expect(() =>
            combined([policy("theirs", { egress: [{ ports: [{ port: "http" }] }] })], {
                ways: ["egress"],
                ports: [80],
            }),
        ).toThrow(
            /^the NetworkPolicy theirs applies to a target and allows the named port http, .*\. Attack both directions/,
        ));

    it("peers by label, if no label tells those of the attack from others", () =>
        expect(() =>
            combined(
                [policy("theirs", { egress: [{ to: [{ podSelector: {} }] }] })],
                { ways: ["egress"], withPeers: true },
                { pods: peers.pods } as typeof peers,
            ),
        ).toThrow(/^the NetworkPolicy theirs .* no label tells the attack's peers/));
});
