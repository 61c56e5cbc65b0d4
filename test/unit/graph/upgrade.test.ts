import type * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import type { Cluster } from "../../../chaos/cluster/client";
import { Agent } from "../../../components/agent/agent";
import { Shop, type ShopArgs } from "../../../components/shop/shop";
import earlier from "./resources-0.1.json";
import { images, recordGraph } from "./support";

const workloads = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals", "orders", "inventory"];
const shop: ShopArgs = {
    namespace: "demo",
    images,
    variant: "seven",
    replicas: Object.fromEntries(workloads.map((workload) => [workload, 2])),
    ingress: { hosts: ["shop.example.com"] },
    storage: { database: "1Gi", broker: "1Gi" },
};

const daemonSet = {
    metadata: { name: "agent", generation: 1 },
    status: { desiredNumberScheduled: 1, numberReady: 1, updatedNumberScheduled: 1, observedGeneration: 1 },
};
const list = (items: object[]) => async () => ({ items });
const cluster = {
    apps: {
        listNamespacedDaemonSet: list([daemonSet]),
        listNamespacedDeployment: list([]),
        listNamespacedStatefulSet: list([]),
    },
} as unknown as Cluster;
const agent = {
    settings: { install: "builtin", namespace: "demo-agent", key: "a-key", timeoutMs: 1_000 },
    clusterName: "demo",
    shop: "demo",
    image: images.node,
    cluster,
} as unknown as ConstructorParameters<typeof Agent>[1];

const identities: string[] = [];
beforeAll(async () => {
    const types = new Map<pulumi.Resource, string>();
    const record: pulumi.ResourceTransformation = ({ resource, type, name, opts: { parent } }) => {
        const parentType = parent && types.get(parent);
        types.set(resource, parentType === undefined ? type : `${parentType}$${type}`);
        // A ConfigMap of files has a hash of them in its name.
        identities.push(`${types.get(resource)}::${name.replace(/-[0-9a-f]{8}$/, "")}`);
        return undefined;
    };
    const opts = { transformations: [record] };
    await recordGraph(async () => [new Shop("shop", shop, opts), new Agent("agent", agent, opts)]);
});

describe("a stack of version 0.1 that uses every option of the shop", () => {
    it.each(earlier)("keeps %s", (identity) => expect(identities).toContain(identity));

    it("gets NetworkPolicies, and no other resource", () => {
        const isPolicy = (identity: string) => identity.includes("$chaos-shop:base:NetworkPolicies");
        expect(identities.filter((identity) => !isPolicy(identity)).sort()).toEqual([...earlier].sort());
    });
});
