import type { V1NetworkPolicy, V1NetworkPolicySpec } from "@kubernetes/client-node";
import { expect, it } from "vitest";
import { proxyPolicies, refuseForeignCallers } from "../../../../../chaos/attacks/fault/access";
import { selects } from "../../../../../chaos/policies/selector";

const policy = (name: string, spec: V1NetworkPolicySpec): V1NetworkPolicy => ({ metadata: { name }, spec });
const app = (name: string) => ({ matchLabels: { app: name } });
const denied = policy("default-deny", { podSelector: {}, policyTypes: ["Ingress", "Egress"] });
const into = policy("into-hot-deals", {
    podSelector: app("hot-deals"),
    policyTypes: ["Ingress"],
    ingress: [{ _from: [{ podSelector: app("gateway") }], ports: [{ port: "main" }] }],
});
const outOf = policy("out-of-gateway", {
    podSelector: app("gateway"),
    policyTypes: ["Egress"],
    egress: [
        { to: [{ podSelector: app("hot-deals") }], ports: [{ port: "main" }] },
        { to: [{ podSelector: app("toys") }] },
    ],
});

const proxy = "slow-1234-fault";
const args = {
    service: {
        service: "hot-deals",
        selector: { app: "hot-deals" },
        ports: [{ name: "main", port: 80, target: "main", listen: 8080 }],
        pods: [],
    },
    proxy,
    experiment: "slow",
    pass: "5f0c",
    pods: [{ app: "hot-deals" }],
    namespace: { "kubernetes.io/metadata.name": "demo" },
};
const known = { "chaos-experiments/proxy": proxy, "chaos-experiments/experiment": "slow" };
const ofProxy = { ...known, "chaos-experiments/pass": "5f0c" };
const toProxy = [
    { podSelector: { matchLabels: { "chaos-experiments/proxy": proxy, "chaos-experiments/pass": "5f0c" } } },
];

const selecting = (policies: V1NetworkPolicy[], of: Record<string, string>) =>
    proxyPolicies(policies, args).filter(({ podSelector }) => selects(podSelector, of));

it("whom the Service's pods accept reaches the proxy, and nobody else but the witness", () => {
    const [only, ...others] = selecting([denied, into, outOf], ofProxy);
    expect(others).toEqual([]);
    expect(only!.ingress!.map(({ from, ports }) => [from![0]!.podSelector!.matchLabels, ports])).toEqual([
        [{ app: "gateway" }, [{ port: "main" }]],
        [{ "chaos-experiments/pass": "5f0c" }, undefined],
    ]);
});

it("everybody reaches it where no policy isolates the Service's pods", () => {
    expect(selecting([outOf], ofProxy)[0]).toMatchObject({ ingress: [{}], egress: [{}] });
});

it("a default deny that comes during the run does not cut it off: its own policy is there without others, too", () => {
    expect(proxyPolicies([], args)).toMatchObject([
        { podSelector: { matchLabels: toProxy[0]!.podSelector.matchLabels }, ingress: [{}], egress: [{}] },
    ]);
});

it("nothing is opened for a pod that only has labels which somebody could know before the run", () => {
    for (const { podSelector } of proxyPolicies([denied, into, outOf], args))
        expect(selects(podSelector, known)).toBe(false);
});

it("the Service's pods accept the proxy, on their ports", () => {
    const specs = selecting([denied, into], { app: "hot-deals" });
    expect(specs.map(({ ingress }) => ingress)).toEqual([
        [{ from: toProxy, ports: [{ protocol: "TCP", port: 8080 }] }],
        [{ from: toProxy, ports: [{ protocol: "TCP", port: 8080 }] }],
    ]);
});

it("callers that may reach these pods may reach the proxy, and no other pod may", () => {
    expect(selecting([denied, into, outOf], { app: "gateway" }).map(({ egress }) => egress)).toEqual([
        [{ to: toProxy, ports: [{ port: "main" }] }],
    ]);
    expect(selecting([denied, into, outOf], { app: "toys" })).toEqual([]);
});

it("pods that no policy isolates stay so", () => {
    expect(selecting([outOf], { app: "hot-deals" })).toEqual([]);
    expect(selecting([into], { app: "gateway" })).toEqual([]);
});

it("a rule for pods of another namespace opens nothing here", () => {
    const elsewhere = policy("out-of-gateway", {
        podSelector: app("gateway"),
        policyTypes: ["Egress"],
        egress: [
            {
                to: [
                    {
                        podSelector: app("hot-deals"),
                        namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "other" } },
                    },
                ],
            },
        ],
    });
    expect(selecting([elsewhere], { app: "gateway" })).toEqual([]);
});

it("is refused where a policy applies to some pods of the Service only: one caller would reach more than now", () => {
    const pods: Record<string, string>[] = [{ app: "hot-deals" }, { app: "hot-deals", canary: "yes" }];
    const some = policy("canary-only", { podSelector: { matchLabels: { canary: "yes" } }, policyTypes: ["Ingress"] });
    expect(() => proxyPolicies([some], { ...args, pods })).toThrow(
        "the NetworkPolicy canary-only applies to some pods of Service hot-deals and not to all",
    );
});

it("is refused where a policy of another namespace lets callers reach the pods by their labels", () => {
    const egress = (peer: object): V1NetworkPolicy => ({
        metadata: { name: "out-of-front", namespace: "front" },
        spec: { podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [peer] }] },
    });
    const here = { matchLabels: { "kubernetes.io/metadata.name": "demo" } };
    const refused = egress({ namespaceSelector: here, podSelector: app("hot-deals") });
    expect(() => refuseForeignCallers([refused], args)).toThrow("the NetworkPolicy out-of-front of namespace front");
    expect(() =>
        refuseForeignCallers(
            [
                egress({ namespaceSelector: here }),
                egress({ namespaceSelector: here, podSelector: app("toys") }),
                // The proxy is among these: the attack of another experiment leaves its targets such a rule.
                egress({
                    namespaceSelector: {},
                    podSelector: { matchExpressions: [{ key: "app", operator: "NotIn", values: ["database"] }] },
                }),
            ],
            args,
        ),
    ).not.toThrow();
});
