import type { V1LabelSelector, V1NetworkPolicySpec } from "../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import { allowingPolicy } from "../../../../chaos/proof/allowing-policies";
import { selects } from "../../../../chaos/policies/selector";

const target = { name: "hot-deals-1", labels: { app: "hot-deals" } };
const job = { name: "job", labels: { "chaos-experiments/experiment": "x" }, addresses: ["10.1.2.3", "fd00::3"] };
const namespace = { "kubernetes.io/metadata.name": "demo", tier: "shop" };
const web: V1LabelSelector = { matchLabels: { app: "hot-deals" } };
const fromJob = { podSelector: { matchExpressions: [{ key: "chaos-experiments/experiment", operator: "Exists" }] } };
const fromGateway = { podSelector: { matchLabels: { app: "gateway" } } };

function allowing(way: "ingress" | "egress", spec: V1NetworkPolicySpec) {
    const policies = [{ metadata: { name: "policy" }, spec }];
    return allowingPolicy(policies, [target], { ways: [way], ports: [8080] }, { pods: [job], namespace });
}

describe("a NetworkPolicy allows what an attack denies if", () => {
    it.each<[string, "ingress" | "egress", V1NetworkPolicySpec]>([
        ["it allows everything", "ingress", { podSelector: {}, ingress: [{}] }],
        ["it selects the target", "ingress", { podSelector: web, ingress: [{}] }],
        ["one of its rules allows the port", "ingress", { podSelector: {}, ingress: [{ ports: [{ port: 8080 }] }] }],
        ["a range has it", "ingress", { podSelector: {}, ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] }],
        ["the port has a name", "ingress", { podSelector: {}, ingress: [{ ports: [{ port: "http" }] }] }],
        ["a protocol has all ports", "ingress", { podSelector: {}, ingress: [{ ports: [{ protocol: "TCP" }] }] }],
        ["it allows the other side", "ingress", { podSelector: {}, ingress: [{ from: [fromGateway, fromJob] }] }],
        [
            "it allows the other side in this namespace",
            "ingress",
            {
                podSelector: {},
                ingress: [{ from: [{ ...fromJob, namespaceSelector: { matchLabels: { tier: "shop" } } }] }],
            },
        ],
        [
            "it allows the other side's address",
            "egress",
            { podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [{ ipBlock: { cidr: "10.0.0.0/8" } }] }] },
        ],
        [
            "it allows the other side's IPv6 address",
            "ingress",
            { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "fd00::/16" } }] }] },
        ],
    ])("%s", (_, way, spec) =>
        expect(allowing(way, spec)).toEqual({ way, policy: "policy", pod: "hot-deals-1", isSure: true }),
    );

    it("it allows lookups by UDP, and they are what works", () => {
        const spec: V1NetworkPolicySpec = { podSelector: {}, egress: [{ ports: [{ protocol: "UDP", port: 53 }] }] };
        const policies = [{ metadata: { name: "dns" }, spec }];
        const lookups = { ways: ["egress"], ports: [53, 5353] } as const;
        expect(allowingPolicy(policies, [target], { ...lookups, protocols: ["UDP", "TCP"] }, "outside")).toBeDefined();
        expect(allowingPolicy(policies, [target], lookups, "outside")).toBeUndefined();
    });

    it("it allows requests, though others allow what is no request, the other way and before it", () => {
        const by = (name: string, protocol: string, way: "ingress" | "egress") => ({
            metadata: { name },
            spec: {
                podSelector: {},
                policyTypes: [way === "ingress" ? "Ingress" : "Egress"],
                [way]: [{ ports: [{ protocol }] }],
            },
        });
        const policies = [by("a-udp", "UDP", "ingress"), by("b-sctp", "SCTP", "egress"), by("z-tcp", "TCP", "egress")];
        const everything = { ways: ["ingress", "egress"], protocols: ["TCP", "UDP", "SCTP"] } as const;
        expect(allowingPolicy(policies, [target], everything)?.policy).toBe("z-tcp");
        expect(allowingPolicy(policies.slice(0, 2), [target], everything)?.policy).toBe("a-udp");
    });

    it.each([
        ["egress", { podSelector: {}, egress: [{}] }, true],
        ["egress", { podSelector: {}, egress: [{ to: [{ namespaceSelector: {} }] }] }, false],
        ["egress", { podSelector: {}, egress: [{ to: [fromGateway] }] }, undefined],
    ] as const)("the other side is outside of the namespace: sure only if it allows everybody", (way, spec, isSure) => {
        const policies = [{ metadata: { name: "policy" }, spec: spec as unknown as V1NetworkPolicySpec }];
        expect(allowingPolicy(policies, [target], { ways: [way] }, "outside")?.isSure).toBe(isSure);
    });
});

it("a NetworkPolicy allows what an attack denies if the port has its name in one of the targets", () => {
    const named = (name: string, containerPort: number) => ({
        ...target,
        name,
        spec: { containers: [{ name: "app", ports: [{ name: "http", containerPort }] }] },
    });
    const spec = { podSelector: {}, ingress: [{ ports: [{ port: "http" }] }] };
    const policies = [{ metadata: { name: "policy" }, spec }];
    const targets = [named("hot-deals-1", 8081), named("hot-deals-2", 8080)];
    expect(allowingPolicy(policies, targets, { ways: ["ingress"], ports: [8080] })?.pod).toBe("hot-deals-2");
});

describe("a NetworkPolicy is not the reason if", () => {
    it("it allows a port by a name that the target has for another one", () => {
        const containers = [{ name: "app", ports: [{ name: "metrics", containerPort: 9090 }] }];
        const scraped = { podSelector: {}, ingress: [{ ports: [{ port: "metrics" }] }] };
        const by = (ports: number[]) =>
            allowingPolicy([{ metadata: { name: "scrape" }, spec: scraped }], [{ ...target, spec: { containers } }], {
                ways: ["ingress"],
                ports,
            });
        expect(by([8080])).toBeUndefined();
        expect(by([8080, 9090])?.policy).toBe("scrape");
    });

    it.each<[string, "ingress" | "egress", V1NetworkPolicySpec]>([
        ["it denies everything", "ingress", { podSelector: {}, policyTypes: ["Ingress", "Egress"] }],
        ["it allows the other direction", "ingress", { podSelector: {}, egress: [{}] }],
        ["it is for ingress only", "egress", { podSelector: {}, policyTypes: ["Ingress"], egress: [{}] }],
        ["it selects other pods", "ingress", { podSelector: { matchLabels: { app: "gateway" } }, ingress: [{}] }],
        ["it allows another port", "ingress", { podSelector: {}, ingress: [{ ports: [{ port: 5432 }] }] }],
        ["it allows other pods", "ingress", { podSelector: {}, ingress: [{ from: [fromGateway] }] }],
        [
            "it allows pods of another namespace",
            "ingress",
            {
                podSelector: {},
                ingress: [
                    { from: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "nginx" } } }] },
                ],
            },
        ],
        [
            "it allows other addresses",
            "ingress",
            { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "203.0.113.7/32" } }] }] },
        ],
        [
            "it excepts the other side's address",
            "ingress",
            { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: "10.0.0.0/8", except: ["10.1.0.0/16"] } }] }] },
        ],
        [
            "it allows the port by another protocol",
            "ingress",
            { podSelector: {}, ingress: [{ ports: [{ protocol: "UDP", port: 8080 }] }] },
        ],
        ["it allows another protocol", "ingress", { podSelector: {}, ingress: [{ ports: [{ protocol: "SCTP" }] }] }],
        [
            "it has the port's name for another protocol",
            "ingress",
            { podSelector: {}, ingress: [{ ports: [{ protocol: "UDP", port: "http" }] }] },
        ],
    ])("%s", (_, way, spec) => expect(allowing(way, spec)).toBeUndefined());
});

it.each<[string, boolean, NonNullable<V1LabelSelector["matchExpressions"]>[number]]>([
    ["In", true, { key: "app", operator: "In", values: ["hot-deals", "toys"] }],
    ["In", false, { key: "app", operator: "In", values: ["toys"] }],
    ["In, without the label", false, { key: "tier", operator: "In", values: ["web"] }],
    ["NotIn", true, { key: "app", operator: "NotIn", values: ["toys"] }],
    ["NotIn", false, { key: "app", operator: "NotIn", values: ["hot-deals"] }],
    ["NotIn, without the label", true, { key: "tier", operator: "NotIn", values: ["web"] }],
    ["Exists", true, { key: "app", operator: "Exists" }],
    ["Exists", false, { key: "tier", operator: "Exists" }],
    ["DoesNotExist", true, { key: "tier", operator: "DoesNotExist" }],
    ["DoesNotExist", false, { key: "app", operator: "DoesNotExist" }],
])("the operator %s: %s", (_, selected, expression) => {
    expect(selects({ matchExpressions: [expression] }, target.labels)).toBe(selected);
    expect(selects({ matchLabels: { app: "gateway" }, matchExpressions: [expression] }, target.labels)).toBe(false);
});
