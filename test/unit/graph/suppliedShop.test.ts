import { beforeAll, describe, expect, it } from "vitest";
import { SuppliedShop, type SuppliedShopArgs } from "../../../components/install/suppliedShop";
import type { Cluster } from "../../../shared/kubernetes";
import { type Asked, find, kinds, recordGraph } from "./support";

const secretMark = "4dabf18193072939515e22adb298388d"; // the engine's mark of a secret
const release = "kubernetes:helm.sh/v3:Release";
const chart = { name: "shop", repo: "https://charts.example.com" };

/** A cluster in which one Deployment is ready. */
const list =
    (...items: object[]) =>
    async () => ({ items });
const ready = {
    metadata: { name: "gateway", generation: 1 },
    spec: { replicas: 1 },
    status: { observedGeneration: 1, readyReplicas: 1, updatedReplicas: 1 },
};
const cluster = {
    core: { listNamespacedPod: list() },
    apps: { listNamespacedDaemonSet: list(), listNamespacedStatefulSet: list(), listNamespacedDeployment: list(ready) },
} as unknown as Cluster;

/** What a shop from somewhere asks for. */
function graphOf(source: SuppliedShopArgs["source"]): Promise<Asked[]> {
    return recordGraph(
        async () =>
            void new SuppliedShop("shop", { namespace: "demo", source, variant: "four", cluster, timeoutMs: 5_000 }),
    );
}

describe("a shop from a chart", () => {
    it("is the release shop in the stack's namespace, not waited for by Helm", async () => {
        expect(find(await graphOf({ install: "chart", chart }), release, "shop")).toMatchObject({
            name: "shop",
            namespace: "demo",
            chart: "shop",
            repositoryOpts: { repo: chart.repo },
            values: {},
            skipAwait: true,
        });
    });

    it("is handed the hosts of the stack by the names that this project's chart and the upstream demo's have for them", async () => {
        const ingress = { hosts: ["shop.example.com", "www.example.com"], class: "nginx" };
        expect(find(await graphOf({ install: "chart", chart, ingress }), release, "shop").values).toEqual({
            ingress,
            gateway: { ingress: { host: "shop.example.com" } },
        });
    });
});

describe("a shop from a manifest", () => {
    let asked: Asked[];
    beforeAll(async () => {
        const objects = [
            { apiVersion: "apps/v1", kind: "Deployment", metadata: { name: "gateway" }, spec: {} },
            { apiVersion: "v1", kind: "Secret", metadata: { name: "accounts" }, data: { password: "cGFzc3dvcmQ=" } },
        ];
        asked = await graphOf({ install: "manifest", manifest: { namespaceLabels: { level: "high" }, objects } });
    });

    it("is made of resources of the stack, in its namespace, workloads last", () => {
        const made = asked.filter(({ type }) => type.startsWith("kubernetes:"));
        expect(made.map(({ type }) => type)).toEqual([kinds.namespace, kinds.secret, kinds.deployment]);
        for (const { inputs } of made.slice(1)) expect(inputs.metadata.namespace).toBe("demo");
    });

    it("gives its labels to the namespace, and not the level that the program's own shop is held to", () => {
        const { labels } = find(asked, kinds.namespace, "demo").metadata;
        expect(labels).toMatchObject({ level: "high" });
        expect(labels).not.toHaveProperty("pod-security.kubernetes.io/enforce");
    });

    it("keeps what is in a Secret from showing", () => {
        expect(find(asked, kinds.secret, "shop-secret-accounts").data).toHaveProperty(secretMark);
    });
});
