import { beforeAll, describe, expect, it } from "vitest";
import type { Attack } from "../../../experiments/attacks/attack";
import { productsCheck } from "../../../experiments/checks/products";
import { Experiment } from "../../../experiments/experiment";
import type { Plan, PlannedAttack } from "../../../experiments/plan";
import { type Asked, find, kinds, recordGraph } from "./support";

function attackOn(deployment: string, attack: Attack, name: string = attack.kind): PlannedAttack {
    return {
        name,
        target: `k8s.deployment=${deployment},k8s.namespace=demo`,
        radius: { kind: "count", containers: 1 },
        attack,
    };
}
const plan: Plan = {
    experiment: "hot-deals-blackhole",
    run: "1",
    hypothesis: "It holds.",
    context: "kind-kind",
    clusterName: "local",
    shopNamespace: "demo",
    area: "Global",
    namespace: "demo",
    attacks: [attackOn("hot-deals", { kind: "blackhole" })],
    checks: [{ name: "/products", check: productsCheck, intervalMs: 1_000, timeoutMs: 5_000, successRate: 1 }],
    actions: [],
    window: { durationMs: 30_000, graceMs: 15_000 },
    deadlineMs: 600_000,
    onFailure: "report",
};
const target = {
    namespace: "demo",
    pod: "hot-deals-1",
    uid: "u",
    container: "hot-deals",
    containerId: "c",
    address: "10.0.0.1",
    ports: [8080],
};
const printed = {
    "steady-state": { route: { kind: "address", url: "http://x/products" } },
    targets: {
        attacks: [
            { matching: 1, targets: [target] },
            ...["gateway-1", "toys-bestseller-1"].map((pod) => ({ matching: 1, targets: [{ ...target, pod }] })),
        ],
    },
    check: { verdict: "FAILED" },
};

async function experimentOf(changes: Partial<Plan> = {}, found: Record<string, object> = printed): Promise<Asked[]> {
    return recordGraph(
        async () => new Experiment(plan.experiment, { plan: { ...plan, ...changes }, image: "node:20" }),
        found,
    );
}
/** What the deadline's Job is told. */
function environmentOf(asked: Asked[]): Record<string, string> {
    const { env } = find(asked, kinds.job, "deadline").spec.template.spec.containers[0];
    return Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value]));
}
let experiment: Asked[];
beforeAll(async () => {
    experiment = await experimentOf();
});

it("is made in order: steady state, deadline, targets, attack, check", () => {
    const at = (type: string, name: string) =>
        experiment.findIndex((resource) => resource.type === type && resource.name === name);
    const steps = [
        at(kinds.command, "steady-state"),
        at(kinds.job, "deadline"),
        at(kinds.command, "targets"),
        at(kinds.policy, "blackhole"),
        at(kinds.command, "check"),
    ];
    expect(steps).not.toContain(-1);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
});

describe("the blackhole", () => {
    it("selects only the marked pods, and allows nothing in or out", () => {
        const { spec, metadata } = find(experiment, kinds.policy, "blackhole");
        expect(spec).toEqual({
            podSelector: { matchLabels: { "chaos-shop/target": "hot-deals-blackhole.blackhole" } },
            policyTypes: ["Ingress", "Egress"],
        });
        expect(metadata.namespace).toBe("demo");
    });
});

describe("the deadline", () => {
    it("may delete that one policy and unlabel pods of that namespace, nothing else", () => {
        const policy = find(experiment, kinds.policy, "blackhole").metadata.name;
        expect(find(experiment, kinds.role, "deadline-role").rules).toEqual([
            {
                apiGroups: ["networking.k8s.io"],
                resources: ["networkpolicies"],
                resourceNames: [policy],
                verbs: ["get", "delete"],
            },
            { apiGroups: [""], resources: ["pods"], verbs: ["list", "patch"] },
        ]);
    });

    it("knows when to end which attack, and which pods to watch", () => {
        const path = `/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/${find(experiment, kinds.policy, "blackhole").metadata.name}`;
        expect(environmentOf(experiment)).toEqual({
            NAMESPACE: "demo",
            ATTACKS: JSON.stringify([{ path, mark: "hot-deals-blackhole.blackhole", listenPort: 8080 }]),
            SCALED: "",
            DEADLINE_MS: "600000",
        });
    });

    it("is never a target itself", () => {
        expect(find(experiment, kinds.job, "deadline").spec.template.metadata.labels).toHaveProperty(
            "chaos-shop/experiment",
        );
    });

    it("is not waited for by the engine, which would wait until it completes, but by the marking of the targets", () => {
        expect(find(experiment, kinds.job, "deadline").metadata.annotations).toEqual({
            "pulumi.com/skipAwait": "true",
        });
        expect(find(experiment, kinds.command, "targets").environment).toHaveProperty(
            "DEADLINE_JOB",
            find(experiment, kinds.job, "deadline").metadata.name,
        );
    });
});

describe("a kill", () => {
    let killing: Asked[];
    beforeAll(async () => {
        killing = await experimentOf({ attacks: [attackOn("hot-deals", { kind: "kill", intervalMs: 5_000 })] });
    });

    it("is an order to the deadline's Job, which is made once the targets are marked, and no policy", () => {
        expect(killing.filter(({ type }) => type === kinds.policy)).toEqual([]);
        const order = find(killing, kinds.configMap, "kill").metadata;
        expect(order.annotations).toEqual({ "chaos-shop/targets": target.pod });
        const [{ path, killing: told }] = JSON.parse(environmentOf(killing).ATTACKS!);
        expect(path).toBe(`/api/v1/namespaces/demo/configmaps/${order.name}`);
        const { target: whom, radius } = plan.attacks[0]!;
        expect(told).toEqual({
            intervalMs: 5_000,
            mark: "hot-deals-blackhole.kill",
            target: whom,
            radius,
            clusterName: "local",
        });
    });

    it("may delete pods of that namespace and that one order, and ask whose pods they are; nothing else", () => {
        const order = find(killing, kinds.configMap, "kill").metadata.name;
        expect(find(killing, kinds.role, "deadline-role").rules).toEqual([
            { apiGroups: [""], resources: ["configmaps"], resourceNames: [order], verbs: ["get", "delete"] },
            { apiGroups: [""], resources: ["pods"], verbs: ["list", "patch", "delete"] },
            { apiGroups: ["apps"], resources: ["replicasets"], verbs: ["list"] },
        ]);
    });
});

describe("several attacks", () => {
    let several: Asked[];
    beforeAll(async () => {
        several = await experimentOf({
            attacks: [
                attackOn("hot-deals", { kind: "blackhole" }),
                attackOn("gateway", { kind: "dns" }),
                attackOn("toys-bestseller", { kind: "blackhole" }, "blackhole-2"),
            ],
        });
    });
    const names = ["blackhole", "dns", "blackhole-2"];

    it("have an object each, which selects pods of its own", () => {
        const policies = names.map((name) => find(several, kinds.policy, name));
        expect(policies.map(({ spec }) => spec.podSelector.matchLabels["chaos-shop/target"])).toEqual(
            names.map((name) => `hot-deals-blackhole.${name}`),
        );
        expect(new Set(policies.map(({ metadata }) => metadata.name)).size).toBe(3);
        expect(policies[1]!.metadata.annotations).toEqual({ "chaos-shop/targets": "gateway-1" });
    });

    it("are ended by one Job, which may do so to those objects and to no other", () => {
        const objects = names.map((name) => find(several, kinds.policy, name).metadata.name);
        expect(find(several, kinds.role, "deadline-role").rules[0]).toEqual({
            apiGroups: ["networking.k8s.io"],
            resources: ["networkpolicies"],
            resourceNames: objects,
            verbs: ["get", "delete"],
        });
        expect(
            JSON.parse(environmentOf(several).ATTACKS!).map(({ path }: { path: string }) => path.split("/").at(-1)),
        ).toEqual(objects);
    });
});

it("a blackhole of some peers excepts the addresses that they were found at", async () => {
    const found = {
        ...printed,
        targets: { attacks: [{ matching: 1, targets: [target], peers: [{ ...target, address: "10.0.0.9" }] }] },
    };
    const attacks = [
        attackOn("hot-deals", {
            kind: "blackhole",
            direction: "egress",
            peers: "k8s.deployment=database,k8s.namespace=demo",
        }),
    ];
    const { spec } = find(await experimentOf({ attacks }, found), kinds.policy, "blackhole");
    expect(spec.egress).toEqual([{ to: [{ ipBlock: { cidr: "0.0.0.0/0", except: ["10.0.0.9/32"] } }] }]);
});

it("the deadline's Job may scale those Deployments back that the experiment scales, and no other", async () => {
    const scaling = await experimentOf({
        actions: [
            { kind: "wait", durationMs: 1_000 },
            { kind: "scale", deployment: "hot-deals", replicas: 3 },
        ],
    });
    expect(find(scaling, kinds.role, "deadline-role").rules.at(-1)).toEqual({
        apiGroups: ["apps"],
        resources: ["deployments"],
        resourceNames: ["hot-deals"],
        verbs: ["get", "patch"],
    });
    expect(environmentOf(scaling).SCALED).toBe("hot-deals");
});

describe("another plan is another run: every step that does something is replaced", () => {
    it.each<[string, Partial<Plan>]>([
        ["run", { run: "2" }],
        ["radius", { attacks: [{ ...plan.attacks[0]!, radius: { kind: "all" } }] }],
        ["target", { attacks: [attackOn("toys-bestseller", { kind: "blackhole" })] }],
        ["check", { checks: [{ ...plan.checks[0]!, successRate: 0.5 }] }],
        ["window", { window: { ...plan.window, durationMs: 60_000 } }],
    ])("%s", async (_, changes) => {
        const other = await experimentOf(changes);
        for (const step of ["steady-state", "targets", "check"]) {
            expect(find(other, kinds.command, step).triggers[0]).not.toEqual(
                find(experiment, kinds.command, step).triggers[0],
            );
        }
        expect(find(other, kinds.policy, "blackhole").metadata.name).not.toBe(
            find(experiment, kinds.policy, "blackhole").metadata.name,
        );
        expect(find(other, kinds.job, "deadline").metadata.name).not.toBe(
            find(experiment, kinds.job, "deadline").metadata.name,
        );
    });

    it("and the same plan is the same run", async () => {
        expect(find(await experimentOf(), kinds.policy, "blackhole").metadata.name).toBe(
            find(experiment, kinds.policy, "blackhole").metadata.name,
        );
    });
});
