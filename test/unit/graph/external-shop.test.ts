import type * as pulumi from "@pulumi/pulumi";
import { beforeAll, describe, expect, it } from "vitest";
import { placement } from "../../../components/base/placement";
import { ExternalShop, type ExternalShopArgs } from "../../../components/install/external-shop";
import type { Cluster } from "../../../chaos/cluster/client";
import { type Asked, find, kinds, recordGraph, secretMark } from "./support";
import type { Resource } from "../../../chaos/cluster/resources";

const release = "kubernetes:helm.sh/v3:Release";
const chart = { name: "shop", repo: "https://charts.example.com" };

const ready = {
    metadata: { name: "gateway", generation: 1 },
    spec: { replicas: 1 },
    status: { observedGeneration: 1, availableReplicas: 1, updatedReplicas: 1 },
};
/** A cluster in which one Deployment is ready. */
const cluster = {
    all: async ({ kind }: Resource) => (kind === "Deployment" ? [ready] : []),
} as unknown as Cluster;

/** What a shop from somewhere asks for. */
function graphOf(source: ExternalShopArgs["source"], opts?: pulumi.ComponentResourceOptions): Promise<Asked[]> {
    const args: ExternalShopArgs = { namespace: "demo", source, variant: "four", cluster, timeoutMs: 5_000 };
    return recordGraph(async () => void new ExternalShop("shop", args, opts));
}

describe("a shop from a chart", () => {
    it("is the Helm release shop in the stack's namespace, which Helm does not wait for", async () => {
        expect(find(await graphOf({ install: "chart", chart }), release, "shop")).toMatchObject({
            name: "shop",
            namespace: "demo",
            chart: "shop",
            skipAwait: true,
        });
    });

    it("keeps the repository secret: its URL may contain credentials", async () => {
        const { repositoryOpts } = find(await graphOf({ install: "chart", chart }), release, "shop");
        expect(repositoryOpts).toMatchObject({ [secretMark]: expect.any(String), value: { repo: chart.repo } });
    });

    it("keeps the values secret: the provider merges the values file into them, which may hold passwords", async () => {
        const { values } = find(
            await graphOf({ install: "chart", chart: { ...chart, valuesFile: "values.yaml" } }),
            release,
            "shop",
        );
        expect(values).toMatchObject({ [secretMark]: expect.any(String), value: {} });
    });

    it("gets the stack's hosts under the value names of this project's chart and of the upstream demo's", async () => {
        const ingress = { hosts: ["shop.example.com", "www.example.com"], class: "nginx" };
        expect(find(await graphOf({ install: "chart", chart, ingress }), release, "shop").values.value).toEqual({
            ingress,
            gateway: { ingress: { host: "shop.example.com" } },
        });
    });
});

describe("a shop from a manifest", () => {
    const data = { password: "cGFzc3dvcmQ=" };
    const annotations = { "kubectl.kubernetes.io/last-applied-configuration": JSON.stringify({ data }) };
    let asked: Asked[];
    beforeAll(async () => {
        const objects = [
            { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "gateway" }, spec: {} },
            { apiVersion: "v1", kind: "Secret", metadata: { name: "accounts", annotations }, data },
        ];
        asked = await graphOf({ install: "manifest", manifest: { namespaceLabels: { level: "high" }, objects } });
    });

    it("consists of resources in the stack's namespace, workloads last", () => {
        const made = asked.filter(({ type }) => type.startsWith("kubernetes:"));
        expect(made.map(({ type }) => type)).toEqual([kinds.namespace, kinds.secret, kinds.deployment]);
        // The mocks get an object with a secret in it as a secret.
        for (const { inputs } of made.slice(1))
            expect(inputs.metadata.value ?? inputs.metadata).toMatchObject({ namespace: "demo" });
    });

    it("passes its labels to the namespace, without the Pod Security level of the program's own shop", () => {
        const { labels } = find(asked, kinds.namespace, "demo").metadata;
        expect(labels).toMatchObject({ level: "high" });
        expect(labels).not.toHaveProperty("pod-security.kubernetes.io/enforce");
    });

    it("marks the data of its Secrets as secret, also where annotations repeat it", () => {
        const { data: sent, metadata } = find(asked, kinds.secret, "shop-secret-accounts");
        expect(sent).toHaveProperty(secretMark);
        expect(metadata).toMatchObject({
            [secretMark]: expect.any(String),
            value: { annotations: expect.objectContaining(annotations) },
        });
    });

    it("leaves a Deployment without pods to the API server, also if the stack says where pods run", async () => {
        const specs = [null, { template: null }, { template: { spec: null } }, { template: { spec: {} } }];
        const objects = specs.map((spec, index) => ({
            ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: `d${index}` } },
            spec,
        }));
        const transformations = placement({
            nodeSelector: { pool: "shop" },
            pullSecrets: undefined,
            tolerations: undefined,
        });
        const made = await graphOf(
            { install: "manifest", manifest: { namespaceLabels: {}, objects } },
            { transformations },
        );
        const found = made.filter(({ type }) => type === kinds.deployment).map(({ inputs }) => inputs.spec as unknown);
        expect(found).toEqual([...specs.slice(0, 3), { template: { spec: { nodeSelector: { pool: "shop" } } } }]);
    });

    it("keeps the pull Secrets of its pods beside the stack's", async () => {
        const own = {
            ...{ apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "gateway" } },
            spec: { template: { spec: { imagePullSecrets: [{ name: "own" }] } } },
        };
        const made = await graphOf(
            { install: "manifest", manifest: { namespaceLabels: {}, objects: [own] } },
            {
                transformations: placement({
                    pullSecrets: ["registry"],
                    nodeSelector: undefined,
                    tolerations: undefined,
                }),
            },
        );
        const { spec } = find(made, kinds.deployment, "shop-deployment-gateway");
        expect(spec.template.spec.imagePullSecrets).toEqual([{ name: "own" }, { name: "registry" }]);
    });
});
