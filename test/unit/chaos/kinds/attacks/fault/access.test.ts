import type { V1NetworkPolicy, V1NetworkPolicySpec } from "../../../../../../chaos/values/kubernetes-types";
import { describe, expect, it } from "vitest";
import {
    keepsFromProxy,
    proxyPolicies,
    refuseForeignCallers,
} from "../../../../../../chaos/kinds/attacks/fault/access";
import { admitProxy } from "../../../../../../chaos/kinds/attacks/fault/begin";
import type { Pod } from "../../../../../../chaos/values/kubernetes-rules";
import type { FoundService } from "../../../../../../chaos/kinds/attacks/fault/find";
import type { RunAttack } from "../../../../../../chaos/kinds/attacks/attack-kind";
import { selects } from "../../../../../../chaos/policies/selector";
import { FakeCluster } from "../../../support/fake-cluster";

const policy = (name: string, spec: V1NetworkPolicySpec): V1NetworkPolicy => ({ metadata: { name }, spec });
const app = (name: string) => ({ matchLabels: { app: name } });
const denied = policy("default-deny", { podSelector: {}, policyTypes: ["Ingress", "Egress"] });
const into = policy("into-hot-deals", {
    podSelector: app("hot-deals"),
    policyTypes: ["Ingress"],
    ingress: [{ from: [{ podSelector: app("gateway") }], ports: [{ port: "main" }] }],
});
const outOf = policy("out-of-gateway", {
    podSelector: app("gateway"),
    policyTypes: ["Egress"],
    egress: [
        { to: [{ podSelector: app("hot-deals") }], ports: [{ port: "main" }] },
        { to: [{ podSelector: app("toys") }] },
    ],
});

/** A pod with these named ports. */
function pod(labels: Record<string, string>, named: Record<string, number>): Pod {
    const ports = Object.entries(named).map(([name, containerPort]) => ({ name, containerPort }));
    return { metadata: { labels }, spec: { containers: [{ name: "api", ports }] }, status: {} };
}

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
    attacked: "7b1e",
    pods: [pod({ app: "hot-deals" }, { main: 8080 })],
    namespace: { "kubernetes.io/metadata.name": "demo" },
};
const known = { "chaos-experiments/proxy": proxy, "chaos-experiments/experiment": "slow" };
const ofProxy = { ...known, "chaos-experiments/pass": "5f0c" };
const toProxy = [
    { podSelector: { matchLabels: { "chaos-experiments/proxy": proxy, "chaos-experiments/pass": "5f0c" } } },
];

/** What a run has made if nothing is there. */
const none = { accepting: [], calling: [], from: [], open: [] };
const specsOf = (policies: V1NetworkPolicy[], of = args) => proxyPolicies(policies, of).map(({ spec }) => spec);
const selecting = (policies: V1NetworkPolicy[], of: Record<string, string>) =>
    specsOf(policies).filter(({ podSelector }) => selects(podSelector, of));

it("whom the Service's pods accept reaches the proxy, and nobody else but the witness", () => {
    const [only, ...others] = selecting([denied, into, outOf], ofProxy);
    expect(others).toEqual([]);
    expect(only!.ingress!.map(({ from, ports }) => [from![0]!.podSelector!.matchLabels, ports])).toEqual([
        [{ app: "gateway" }, [{ protocol: "TCP", port: 8080 }]],
        [{ "chaos-experiments/pass": "5f0c" }, undefined],
    ]);
});

it("everybody reaches it where no policy isolates the Service's pods", () => {
    expect(selecting([outOf], ofProxy)[0]).toMatchObject({ ingress: [{}], egress: [{}] });
});

it("a default deny that comes during the run does not cut it off: its own policy is there without others, too", () => {
    expect(specsOf([])).toMatchObject([
        { podSelector: { matchLabels: toProxy[0]!.podSelector.matchLabels }, ingress: [{}], egress: [{}] },
    ]);
});

it("nothing is opened for a pod that only has labels which somebody could know before the run", () => {
    for (const { podSelector } of specsOf([denied, into, outOf])) expect(selects(podSelector, known)).toBe(false);
});

it("the Service's pods accept the proxy, on their ports, also a pod that is still to come", () => {
    const specs = selecting([denied, into], { app: "hot-deals" });
    const ports = ["main", 8080].map((port) => ({ protocol: "TCP", port }));
    expect(specs.map(({ ingress }) => ingress)).toEqual([[{ from: toProxy, ports }], [{ from: toProxy, ports }]]);
});

it("callers that may reach these pods may reach the proxy, and no other pod may", () => {
    expect(selecting([denied, into, outOf], { app: "gateway" }).map(({ egress }) => egress)).toEqual([
        [{ to: toProxy, ports: [{ protocol: "TCP", port: 8080 }] }],
    ]);
    expect(selecting([denied, into, outOf], { app: "toys" })).toEqual([]);
});

it("pods that no policy isolates stay so", () => {
    expect(selecting([outOf], { app: "hot-deals" })).toEqual([]);
    expect(selecting([into], { app: "gateway" })).toEqual([]);
});

it("each rests on the policies beside which it stands: without these it would cut its pods off", () => {
    const [first, ...others] = proxyPolicies([denied, into, outOf], args);
    expect(Object.keys(first!.from!)).toEqual(["default-deny", "into-hot-deals"]);
    expect(first!.adds).toBeUndefined();
    expect(others.every(({ adds }) => adds)).toBe(true);
    expect(others.map(({ from = {} }) => Object.keys(from))).toEqual([[], [], ["out-of-gateway"]]);
});

describe("a policy that comes during the run keeps callers from the proxy", () => {
    it.each<[string, boolean, V1NetworkPolicy]>([
        ["isolates the Service's pods", true, into],
        ["denies everything", true, denied],
        ["lets callers reach the pods by their labels", true, outOf],
        ["allows them everything", false, policy("open", { podSelector: {}, policyTypes: ["Egress"], egress: [{}] })],
        ["is for other pods", false, policy("toys", { podSelector: app("toys"), policyTypes: ["Ingress"] })],
        ["isolates other callers", false, policy("idle", { podSelector: {}, policyTypes: ["Egress"] })],
    ])("%s: %s", (_, keeps, one) => expect(keepsFromProxy(one, args, none)).toBe(keeps));

    it("at a port of the Service at which no policy of the run lets these callers reach the proxy", () => {
        const ports = [...args.service.ports, { name: "metrics", port: 90, target: 9090, listen: 9090 }];
        const access = { ...args, service: { ...args.service, ports } };
        const calling = proxyPolicies([outOf], access).flatMap(({ adds, spec }) => (adds ? [spec] : []));
        const at = (port: number | string) =>
            policy("more-of-gateway", {
                podSelector: app("gateway"),
                policyTypes: ["Egress"],
                egress: [{ to: [{ podSelector: app("hot-deals") }], ports: [{ port }] }],
            });
        const pods = [pod({ app: "hot-deals" }, { main: 8080, metrics: 9090 })];
        const keeps = (port: number | string) => keepsFromProxy(at(port), { ...access, pods }, { ...none, calling });
        expect([keeps("main"), keeps(9090)]).toEqual([false, true]);
    });
});

it("a rule for pods of another namespace opens nothing here", () => {
    const namespaceSelector = { matchLabels: { "kubernetes.io/metadata.name": "other" } };
    const to = [{ podSelector: app("hot-deals"), namespaceSelector }];
    const elsewhere = policy("out-of-gateway", { ...outOf.spec!, egress: [{ to }] });
    expect(selecting([elsewhere], { app: "gateway" })).toEqual([]);
});

describe("two versions that listen at two numbers under one name", () => {
    const versions = [
        pod({ app: "hot-deals", version: "1" }, { main: 8080 }),
        pod({ app: "hot-deals", version: "2" }, { main: 9090 }),
    ];
    const specsFor = (policies: V1NetworkPolicy[], of: Record<string, string>, pods = versions) =>
        specsOf(policies, { ...args, pods }).filter(({ podSelector }) => selects(podSelector, of));
    const listening = [{ protocol: "TCP", port: 8080 }];
    const version = (number: string, port: number) =>
        policy(`into-${number}`, {
            podSelector: { matchLabels: { app: "hot-deals", version: number } },
            policyTypes: ["Ingress"],
            ingress: [{ from: [{ podSelector: app("gateway") }], ports: [{ port }] }],
        });

    it("accept the proxy at the number of each", () =>
        expect(specsFor([into], { app: "hot-deals" }).map(({ ingress }) => ingress![0]!.ports)).toEqual([
            ["main", 8080, 9090].map((port) => ({ protocol: "TCP", port })),
        ]));

    const byRange = [{ from: [{ podSelector: app("gateway") }], ports: [{ port: 8000, endPort: 9999 }] }];
    it.each<[string, V1NetworkPolicy[]]>([
        ["by the name", [denied, into]],
        ["by both numbers, in a policy each", [version("1", 8080), version("2", 9090)]],
        ["by a range of numbers", [policy("into-hot-deals", { ...into.spec!, ingress: byRange })]],
    ])("have a proxy that is reached by whom both accept, %s", (_, policies) =>
        expect(specsFor(policies, ofProxy)[0]!.ingress![0]).toEqual({
            from: [{ podSelector: app("gateway") }],
            ports: listening,
        }),
    );

    it("refuse a fault if callers reach one of them only: through the proxy they would reach both", () => {
        const one = version("1", 8080);
        expect(() => specsFor([denied, one], ofProxy)).toThrow(
            "the NetworkPolicy into-1 allows callers to reach only some pods of Service hot-deals at its port 80",
        );
        // Its selector has both, its number one.
        const number = { ...one, spec: { ...one.spec!, podSelector: app("hot-deals") } };
        expect(() => specsFor([number], ofProxy)).toThrow("allows callers to reach only some pods");
    });

    it("let callers reach the proxy if these may reach them by numbers that the proxy does not have", () => {
        const egress = (port: number | string) =>
            policy("out", { podSelector: app("gateway"), policyTypes: ["Egress"], egress: [{ ports: [{ port }] }] });
        const added = (port: number | string) => specsFor([egress(port)], { app: "gateway" }).map((one) => one.egress);
        expect(added(9090)).toEqual([[{ to: toProxy, ports: listening }]]);
        expect([added(8080), added("main"), added(5432)]).toEqual([[], [], []]);
    });

    it("count as far as they have the port at all", () => {
        const pods = [...versions, pod({ app: "hot-deals", version: "3" }, {})];
        expect(specsFor([version("1", 8080), version("2", 9090)], ofProxy, pods)[0]!.ingress![0]!.ports).toEqual(
            listening,
        );
    });
});

it("is refused where a policy isolates some pods of the Service only: one caller would reach more than now", () => {
    const pods = [pod({ app: "hot-deals" }, { main: 8080 }), pod({ app: "hot-deals", canary: "yes" }, { main: 8080 })];
    const some = policy("canary-only", { podSelector: { matchLabels: { canary: "yes" } }, policyTypes: ["Ingress"] });
    expect(() => proxyPolicies([some], { ...args, pods })).toThrow(
        "the NetworkPolicy canary-only allows callers to reach only some pods of Service hot-deals at its port 80",
    );
});

it("a policy does not isolate a pod on the host's network", () => {
    const one = pod({ app: "hot-deals" }, { main: 8080 });
    const pods = [{ ...one, spec: { ...one.spec!, hostNetwork: true } }];
    expect(specsOf([denied], { ...args, pods })).toMatchObject([{ ingress: [{}] }]);
});

it("is refused where a policy of another namespace lets callers reach the pods by their labels", () => {
    const egress = (peer: object): V1NetworkPolicy => ({
        metadata: { name: "out-of-front", namespace: "front" },
        spec: { podSelector: {}, policyTypes: ["Egress"], egress: [{ to: [peer] }] },
    });
    const here = { matchLabels: { "kubernetes.io/metadata.name": "demo" } };
    const refused = egress({ namespaceSelector: here, podSelector: app("hot-deals") });
    expect(() => refuseForeignCallers([refused], args)).toThrow("the NetworkPolicy out-of-front of namespace front");
    const others = [
        egress({ namespaceSelector: here }),
        egress({ namespaceSelector: here, podSelector: app("toys") }),
        // The proxy is among these: the attack of another experiment leaves its targets such a rule.
        egress({
            namespaceSelector: {},
            podSelector: { matchExpressions: [{ key: "app", operator: "NotIn", values: ["database"] }] },
        }),
    ];
    expect(() => refuseForeignCallers(others, args)).not.toThrow();
});

it("pods that have ended are none of the Service's: no policy need let anybody reach them", async () => {
    const cluster = new FakeCluster();
    cluster.add("Namespace", "demo");
    const containers = [{ name: "api", ports: [{ name: "main", containerPort: 8080 }] }];
    const add = (name: string, component: string, phase: string) =>
        cluster.add("Pod", name, {
            metadata: { labels: { app: "hot-deals", component } },
            spec: { containers },
            status: { phase },
        });
    add("hot-deals-1", "server", "Running");
    const attack = { ...args, namespace: "demo", object: proxy, chosen: { found: args.service, chosenBy: "7b1e" } };
    const server = policy("into-server", {
        podSelector: { matchLabels: { component: "server" } },
        policyTypes: ["Ingress"],
        ingress: [{ from: [{ podSelector: app("gateway") }] }],
    });
    const admitted = () =>
        admitProxy(attack as unknown as RunAttack<unknown, FoundService>, cluster.api, {
            policies: [denied, server],
            pass: "5f0c",
        });
    const without = await admitted();
    for (const phase of ["Succeeded", "Failed"]) add(`migrate-${phase}`, "migrate", phase);
    expect(await admitted()).toEqual(without);
    add("migrate-again", "migrate", "Running");
    await expect(admitted()).rejects.toThrow("the NetworkPolicy into-server allows callers to reach only some pods");
});
