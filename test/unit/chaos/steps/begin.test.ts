import type { V1Service } from "@kubernetes/client-node";
import { beforeEach, expect, it } from "vitest";
import { nextPointing } from "../../../../chaos/attacks/fault/pointing";
import type { Plan, RunAttack } from "../../../../chaos/definition/plan";
import { beginAttacks } from "../../../../chaos/steps/begin";
import type { StepContext } from "../../../../chaos/steps/contract";
import { FakeCluster, refuse } from "../support/fake-cluster";

const selector = { app: "hot-deals" };
const attack = { kind: "fault", service: "hot-deals", delay: "1s" } as const;
const planned = {
    name: "fault",
    target: "k8s.deployment=hot-deals,k8s.namespace=demo",
    radius: { kind: "count", containers: 1 },
    attack,
} as const;
const plan = {
    namespace: "demo",
    run: "1",
    attacks: [planned],
    actions: [],
    settings: "experiment.",
} as unknown as Plan;
const object = "slow-fault";
const one = {
    ...planned,
    namespace: "demo",
    run: "slow",
    object,
    chosen: { targets: [], found: { service: "hot-deals", selector, ports: [], pods: [] } },
} as unknown as RunAttack;

let cluster: FakeCluster;

beforeEach(() => {
    cluster = new FakeCluster();
    cluster.add("Pod", object, { status: { conditions: [{ type: "Ready", status: "True" }] } });
    cluster.add("Pod", "hot-deals-1", { metadata: { labels: { "chaos-experiments/target": "slow.fault" } } });
    const managedFields = [{ manager: "pulumi", operation: "Apply", fieldsV1: { "f:spec": { "f:selector": {} } } }];
    cluster.add("Service", "hot-deals", { metadata: { managedFields }, spec: { selector } });
});

const begin = () => beginAttacks({ plan, cluster: cluster.api } as StepContext, { runName: "slow", attacks: [one] });

it("a fault begins when its Service points to its proxy", async () => {
    expect(await begin()).toBeUndefined();
    const service = cluster.get("Service", "hot-deals") as V1Service;
    expect(nextPointing(service, { proxy: object, run: "slow", selector })).toBeUndefined();
});

it.each([
    ["another selector", () => (cluster.get("Service", "hot-deals").spec.selector = { app: "toys" })],
    ["no Service any more", () => cluster.remove("Service", "hot-deals")],
])("a fault that finds %s does not begin: somebody has changed it", async (_what, change) => {
    change();
    expect(await begin()).toMatchObject({ code: "service-changed" });
});

it.each([403, 503])(
    "a fault that the API server answers with %i does not begin, and nobody is blamed",
    async (status) => {
        cluster.intercept = (call) => call === "patchNamespacedService" && refuse(status, "not now");
        expect(await begin()).toMatchObject({ code: "api-server-unavailable" });
    },
);
