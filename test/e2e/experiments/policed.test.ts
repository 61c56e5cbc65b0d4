import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import type { V1NetworkPolicy } from "../../../chaos/values/kubernetes-types";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ignoreNotFound } from "../../support/typed-cluster";
import { tryWithin } from "../../../chaos/proof/try-within";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { select, type Target } from "../../../chaos/targets/containers";
import { containersByApiServer } from "../../../chaos/targets/discover";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import type { TestStack } from "../shop/support";

/** As their owners apply them: without a line for experiments, which the shop's own have. */
const everybody = {};
const theirs: V1NetworkPolicy[] = [
    { name: "default-deny", spec: { podSelector: everybody, policyTypes: ["Ingress", "Egress"] } },
    {
        name: "within",
        spec: {
            podSelector: everybody,
            policyTypes: ["Ingress", "Egress"],
            ingress: [{ from: [{ podSelector: {} }] }],
            egress: [{ to: [{ podSelector: { matchExpressions: [{ key: "app", operator: "Exists" }] } }] }],
        },
    },
    {
        name: "dns",
        spec: {
            podSelector: everybody,
            policyTypes: ["Egress"],
            egress: [{ ports: ["UDP", "TCP"].map((protocol) => ({ protocol, port: 53 })) }],
        },
    },
    {
        name: "into-the-shop",
        spec: { podSelector: { matchLabels: { app: "gateway" } }, policyTypes: ["Ingress"], ingress: [{}] },
    },
].map(({ name, spec }) => ({
    apiVersion: "networking.k8s.io/v1",
    kind: "NetworkPolicy",
    metadata: { name, namespace },
    spec: spec,
}));

let stack: TestStack;
let before: V1NetworkPolicy[];
beforeAll(async () => {
    stack = await sharedStack();
    await stack.up({ networkPolicies: "false" });
    for (const policy of theirs) await apply(policy);
    before = await policies();
});
afterAll(async () => {
    const { networking } = stack.cluster;
    for (const { metadata } of theirs)
        await ignoreNotFound(networking.deleteNamespacedNetworkPolicy({ name: metadata!.name!, namespace }));
    await giveBack(stack);
});

async function policies(): Promise<V1NetworkPolicy[]> {
    const { items } = await stack.cluster.networking.listNamespacedNetworkPolicy({ namespace });
    return items.filter(({ metadata }) => theirs.some((one) => one.metadata!.name === metadata!.name));
}

/** As `kubectl apply --server-side` does. @throws ApiException with code 409 if somebody else has set a field */
async function apply(body: V1NetworkPolicy): Promise<void> {
    const options = setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply);
    const { name } = body.metadata!;
    await stack.cluster.networking.patchNamespacedNetworkPolicy(
        { name: name!, namespace, body, fieldManager: "their-tool" },
        options,
    );
}

async function conclusionOf(name: string): Promise<Conclusion> {
    const { outputs } = await stack.up({
        "experiment.enabled": "true",
        // A busy shop notices a lost database after seconds: until then its open connections answer.
        "experiment.duration": "6s",
        "experiment.grace": "1s",
        "experiment.interval": "250ms",
        "experiment.name": name,
    });
    return outputs.experiment!.value as Conclusion;
}

it.each([
    ["everything", "hot-deals-blackhole", "hot-deals", "cut off from the network"],
    ["DNS, and nothing else", "gateway-dns-loss", "gateway", "left without DNS"],
    ["one peer, and nothing else", "hot-deals-without-database", "hot-deals", "unable to reach"],
])("in a namespace with default deny, an attack on %s is proven", async (_, name, workload, proven) => {
    stack.said = "";
    expect(await conclusionOf(name)).toMatchObject({
        name,
        verdict: "FAILED",
        targets: [expect.stringContaining(`${namespace}/${workload}-`)],
        requests: 28,
    });
    expect(stack.said).toContain(proven);
    // The run's own policies let the targets through to the witness, however late the network is.
    expect(stack.said).not.toContain("Not part of the proof");
});

it("that attack cuts off only the peer: other connections of the target still work", async () => {
    const known = await containersByApiServer(stack.cluster, "sandbox");
    const containerOf = (deployment: string) =>
        select(known, `k8s.deployment=${deployment},k8s.namespace=${namespace}`)[0]!;
    const [gateway, hotDeals, database] = ["gateway", "hot-deals", "database"].map(containerOf);
    const connects = async (from: Target, to: Target) =>
        tryWithin(stack.cluster, from, { connect: { host: to.address, port: to.ports[0]! } }, 1_000);
    expect(await connects(hotDeals!, database!)).toMatchObject({ worked: false });
    expect(await connects(gateway!, hotDeals!)).toMatchObject({ worked: true });
    // All else that the policies let it do.
    expect(await tryWithin(stack.cluster, hotDeals!, { lookup: "gateway" }, 1_000)).toMatchObject({ worked: true });
});

it("afterwards, the policies and who had set them are as before: their next apply meets no conflict", async () => {
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
    const unversioned = ({ metadata, spec }: V1NetworkPolicy) => {
        const { resourceVersion: _, generation: __, ...rest } = metadata!;
        return { metadata: rest, spec };
    };
    expect((await policies()).map(unversioned)).toEqual(before.map(unversioned));
    const [, within] = theirs as [V1NetworkPolicy, V1NetworkPolicy];
    await apply({ ...within, spec: { ...within.spec!, podSelector: { matchLabels: { app: "gateway" } } } });
});
