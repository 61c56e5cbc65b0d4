import { beforeAll, describe, expect, it } from "vitest";
import { Experiment } from "../../../experiments/experiment";
import type { Plan } from "../../../experiments/plan";
import { type Asked, find, kinds, recordGraph } from "./support";

const plan: Plan = {
    experiment: "hot-deals-blackhole",
    run: "1",
    hypothesis: "It holds.",
    context: "kind-kind",
    clusterName: "local",
    shopNamespace: "demo",
    area: "Global",
    target: "k8s.deployment=hot-deals,k8s.namespace=demo",
    namespace: "demo",
    radius: { kind: "count", containers: 1 },
    attack: { kind: "blackhole" },
    window: { durationMs: 30_000, intervalMs: 1_000, timeoutMs: 5_000, graceMs: 15_000, successRate: 1 },
    deadlineMs: 600_000,
    onFailure: "report",
};
const target = { namespace: "demo", pod: "hot-deals-1", uid: "u", container: "hot-deals", containerId: "c", address: "10.0.0.1", ports: [8080] };
const printed = { "steady-state": { route: { kind: "address", url: "http://x/products" } }, targets: { matching: 1, targets: [target] }, check: { verdict: "FAILED" } };

async function experimentOf(changes: Partial<Plan> = {}): Promise<Asked[]> {
    return recordGraph(async () => new Experiment(plan.experiment, { plan: { ...plan, ...changes }, image: "node:20" }), printed);
}
let experiment: Asked[];
beforeAll(async () => {
    experiment = await experimentOf();
});

it("is made in order: steady state, deadline, targets, attack, check", () => {
    const at = (type: string, name: string) => experiment.findIndex((resource) => resource.type === type && resource.name === name);
    const steps = [at(kinds.command, "steady-state"), at(kinds.job, "deadline"), at(kinds.command, "targets"), at(kinds.policy, "blackhole"), at(kinds.command, "check")];
    expect(steps).not.toContain(-1);
    expect(steps).toEqual([...steps].sort((a, b) => a - b));
});

describe("the blackhole", () => {
    it("selects only the marked pods, and allows nothing in or out", () => {
        const { spec, metadata } = find(experiment, kinds.policy, "blackhole");
        expect(spec).toEqual({ podSelector: { matchLabels: { "chaos-shop/target": "hot-deals-blackhole" } }, policyTypes: ["Ingress", "Egress"] });
        expect(metadata.namespace).toBe("demo");
    });
});

describe("the deadline", () => {
    it("may delete that one policy and unlabel pods of that namespace, nothing else", () => {
        const policy = find(experiment, kinds.policy, "blackhole").metadata.name;
        expect(find(experiment, kinds.role, "deadline-role").rules).toEqual([
            { apiGroups: ["networking.k8s.io"], resources: ["networkpolicies"], resourceNames: [policy], verbs: ["get", "delete"] },
            { apiGroups: [""], resources: ["pods"], verbs: ["list", "patch"] },
        ]);
    });

    it("knows when to end which attack, and which pods to watch", () => {
        const { env } = find(experiment, kinds.job, "deadline").spec.template.spec.containers[0];
        expect(Object.fromEntries(env.map(({ name, value }: { name: string; value: string }) => [name, value]))).toEqual({
            NAMESPACE: "demo",
            ATTACK_PATH: `/apis/networking.k8s.io/v1/namespaces/demo/networkpolicies/${find(experiment, kinds.policy, "blackhole").metadata.name}`,
            TARGET_SELECTOR: "chaos-shop/target=hot-deals-blackhole",
            DEADLINE_MS: "600000",
            LISTEN_PORT: "8080",
            KILLING: "",
        });
    });

    it("is never a target itself", () => {
        expect(find(experiment, kinds.job, "deadline").spec.template.metadata.labels).toHaveProperty("chaos-shop/experiment");
    });

    it("is not waited for by the engine, which would wait until it completes, but by the marking of the targets", () => {
        expect(find(experiment, kinds.job, "deadline").metadata.annotations).toEqual({ "pulumi.com/skipAwait": "true" });
        expect(find(experiment, kinds.command, "targets").environment).toHaveProperty("DEADLINE_JOB", find(experiment, kinds.job, "deadline").metadata.name);
    });
});

describe("a kill", () => {
    let killing: Asked[];
    beforeAll(async () => {
        killing = await experimentOf({ attack: { kind: "kill", intervalMs: 5_000 } });
    });

    it("is an order to the deadline's Job, which is made once the targets are marked, and no policy", () => {
        expect(killing.filter(({ type }) => type === kinds.policy)).toEqual([]);
        const order = find(killing, kinds.configMap, "kill").metadata;
        expect(order.annotations).toEqual({ "chaos-shop/targets": target.pod });
        const { env } = find(killing, kinds.job, "deadline").spec.template.spec.containers[0];
        expect(env).toContainEqual({ name: "ATTACK_PATH", value: `/api/v1/namespaces/demo/configmaps/${order.name}` });
        const told = JSON.parse(env.find(({ name }: { name: string }) => name === "KILLING").value);
        expect(told).toEqual({ intervalMs: 5_000, target: plan.target, radius: plan.radius, clusterName: "local" });
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

describe("another plan is another run: every step that does something is replaced", () => {
    it.each<[string, Partial<Plan>]>([
        ["run", { run: "2" }],
        ["radius", { radius: { kind: "all" } }],
        ["target", { target: "k8s.deployment=toys-bestseller,k8s.namespace=demo" }],
        ["window", { window: { ...plan.window, durationMs: 60_000 } }],
    ])("%s", async (_, changes) => {
        const other = await experimentOf(changes);
        for (const step of ["steady-state", "targets", "check"]) {
            expect(find(other, kinds.command, step).triggers[0]).not.toEqual(find(experiment, kinds.command, step).triggers[0]);
        }
        expect(find(other, kinds.policy, "blackhole").metadata.name).not.toBe(find(experiment, kinds.policy, "blackhole").metadata.name);
        expect(find(other, kinds.job, "deadline").metadata.name).not.toBe(find(experiment, kinds.job, "deadline").metadata.name);
    });

    it("and the same plan is the same run", async () => {
        expect(find(await experimentOf(), kinds.policy, "blackhole").metadata.name).toBe(find(experiment, kinds.policy, "blackhole").metadata.name);
    });
});
