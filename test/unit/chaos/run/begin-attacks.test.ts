import type { V1Service } from "../../../../chaos/values/kubernetes-types";
import { beforeEach, describe, expect, it } from "vitest";
import { pointedService, pointing } from "../../../../chaos/kinds/attacks/fault/pointing";
import { lending } from "../../../../chaos/cluster/lend";
import type { Plan, RunAttack } from "../../../../chaos/definition/plan";
import { beginAttacks } from "../../../../chaos/run/begin-attacks";
import type { StepContext } from "../../../../chaos/run/contract";
import { FakeCluster } from "../support/fake-cluster";

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
    experiment: "slow",
    attacks: [planned],
    actions: [],
    checks: [],
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
let said: string[];

beforeEach(() => {
    said = [];
    cluster = new FakeCluster();
    cluster.add("Pod", object, { status: { conditions: [{ type: "Ready", status: "True" }] } });
    cluster.add("Pod", "hot-deals-1", { metadata: { labels: { "chaos-experiments/target": "slow.fault" } } });
    const managedFields = [{ manager: "pulumi", operation: "Apply", fieldsV1: { "f:spec": { "f:selector": {} } } }];
    cluster.add("Service", "hot-deals", { metadata: { managedFields }, spec: { selector } });
});

const context = () =>
    ({ plan, cluster: cluster.api, stack: "ours", say: (line: string) => said.push(line) }) as unknown as StepContext;
const begin = (...attacks: RunAttack[]) =>
    beginAttacks(context(), { runName: "slow", attacks: attacks.length > 0 ? attacks : [one] });

it("a fault begins when its Service points to its proxy", async () => {
    expect(await begin()).toBeUndefined();
    const service = cluster.get("Service", "hot-deals") as V1Service;
    expect(lending(pointedService, pointing("slow", object, selector), service)).toBeUndefined();
});

describe("a proxy that is not ready leaves the Service alone, and the run", () => {
    beforeEach(() => cluster.add("Pod", object, { status: { phase: "Failed" } }));
    const message = expect.stringContaining(`the fault's proxy, pod ${object}, is not ready`);
    const points = () => cluster.get("Service", "hot-deals").spec.selector;

    it("is aborted, with the kubelet's words: nobody was attacked", async () => {
        const waiting = { reason: "ErrImagePull", message: "Back-off pulling image." };
        const status = { phase: "Failed", containerStatuses: [{ state: { waiting } }] };
        cluster.add("Pod", object, { status });
        const said =
            /^the fault's proxy, pod slow-fault, is not ready: .* says “Back-off pulling image”; see its events: k/;
        const message = expect.stringMatching(said);
        await expect(begin()).rejects.toMatchObject({ reason: { code: "proxy-failed", message } });
        expect(points()).toEqual(selector);
    });

    it("has no verdict, if it has attacks that have begun by themselves", async () => {
        const blackhole = { ...one, name: "blackhole", attack: { kind: "blackhole" } } as RunAttack;
        cluster.add("NetworkPolicy", object);
        expect(await begin(one, blackhole)).toEqual({ code: "proxy-failed", message });
        expect(points()).toEqual(selector);
    });
});

it.each<[string, () => void]>([
    ["is gone", () => cluster.remove("Pod", object)],
    ["is being deleted", () => (cluster.get("Pod", object).metadata.deletionTimestamp = new Date().toISOString())],
])(
    "a fault whose run somebody ends while its proxy tries the pods does not begin: the run is over, if the proxy %s",
    async (_, end) => {
        const ports = [{ name: "http", listen: 8080 }];
        const found = { service: "hot-deals", selector, ports, pods: ["hot-deals-1"] };
        cluster.intercept = (call) => call === "get Pod/log" && end();
        const chosen = { targets: [], found } as unknown as RunAttack["chosen"];
        expect(await begin({ ...one, chosen })).toEqual({
            code: "run-over",
            message: expect.stringMatching(/already ended; last seen of it: .* pod slow-fault, ended .*=slow-fault\. /),
        });
    },
);

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
        cluster.refuses("patch Service", status, "not now");
        expect(await begin()).toMatchObject({ code: "api-server-unavailable" });
    },
);
