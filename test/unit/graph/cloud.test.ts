import * as pulumi from "@pulumi/pulumi";
import { load } from "js-yaml";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import type { StackCluster } from "../../../components/cluster/cluster";
import { readConfiguration } from "../../../components/configuration/read";
import { runPod } from "../../../chaos/pods/pod-options";
import { experimentPods, placement } from "../../../components/base/placement";
import { installShop } from "../../../components/install/install";
import { ingressUrl } from "../../../components/shop/ingress";
import { Shop } from "../../../components/shop/shop";
import { FakeCluster } from "../chaos/support/fake-cluster";
import { type Asked, find, images, kinds, recordGraph } from "./support";

const { config } = load(readFileSync("Pulumi.cloud.yaml", "utf8")) as { config: Record<string, string> };
const settings = { ...config, "chaos-shop:kube.context": "production", "chaos-shop:agent.enabled": "false" };

/** The resources of the shop in the stack `cloud`, with these settings on top of its file's. */
async function cloud(more: Record<string, string> = {}): Promise<Asked[]> {
    const own = Object.fromEntries(Object.entries(more).map(([key, value]) => [`chaos-shop:${key}`, value]));
    const around = { project: "chaos-shop", stack: "cloud", experiments: [{ name: "hot-deals-blackhole" }] };
    const configuration = readConfiguration({ ...settings, ...own }, around);
    const cluster = new FakeCluster();
    const annotations = { "storageclass.kubernetes.io/is-default-class": "true" };
    cluster.add("StorageClass", "standard", { metadata: { annotations } });
    cluster.add("StorageClass", "fast");
    const opts = { transformations: placement(configuration.placement) } as StackCluster["opts"];
    const context = { name: "cloud", server: "https://cluster.example.com" };
    return recordGraph(() =>
        installShop("shop", configuration, {
            api: cluster.api,
            context,
            identity: pulumi.output("0123456789abcdef"),
            opts,
        }),
    );
}

const programs = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals", "orders", "inventory"];
const podOf = (graph: readonly Asked[], workload: string) => find(graph, kinds.deployment, workload).spec.template.spec;
let graph: Asked[];
beforeAll(async () => {
    graph = await cloud();
});

describe("the stack for managed clusters", () => {
    it.each(programs)("spreads the pods of %s over nodes and zones, and lets one at a time be evicted", (workload) => {
        expect(find(graph, kinds.deployment, workload).spec.replicas).toBeGreaterThan(1);
        const spread = podOf(graph, workload).topologySpreadConstraints;
        expect(spread.map(({ topologyKey }: { topologyKey: string }) => topologyKey)).toEqual([
            "kubernetes.io/hostname",
            "topology.kubernetes.io/zone",
        ]);
        for (const constraint of spread)
            expect(constraint).toMatchObject({
                whenUnsatisfiable: "ScheduleAnyway",
                labelSelector: { matchLabels: { app: workload } },
            });
        expect(find(graph, kinds.budget, workload).spec).toMatchObject({
            maxUnavailable: 1,
            selector: { matchLabels: { app: workload } },
        });
    });

    it.each(programs)("gives %s time to leave its Service before it stops", (workload) => {
        const { terminationGracePeriodSeconds, containers } = podOf(graph, workload);
        const delayMs = Number(
            containers[0].env.find(({ name }: { name: string }) => name === "SHUTDOWN_DELAY_MS").value,
        );
        expect(delayMs).toBe(5_000);
        // Draining takes at most five seconds.
        expect(terminationGracePeriodSeconds * 1_000).toBeGreaterThan(delayMs + 5_000);
    });

    it("must let the database and the broker be evicted: their single pods would block the drain of a node", () => {
        const budgets = graph.filter(({ type }) => type === kinds.budget).map(({ name }) => name);
        expect(budgets.sort()).toEqual([...programs].sort());
    });

    it.each(["database", "message-broker"])(
        "keeps the data of %s on a claim of the cluster's default class",
        (workload) => {
            expect(find(graph, kinds.claim, `${workload}-data`).spec).toEqual({
                accessModes: ["ReadWriteOnce"],
                resources: { requests: { storage: "1Gi" } },
            });
            expect(podOf(graph, workload).volumes).toContainEqual({
                name: `${workload}-data`,
                persistentVolumeClaim: { claimName: `${workload}-data` },
            });
        },
    );

    it("uses another storage class if it names one, which the cluster must have", async () => {
        const claim = find(await cloud({ "storage.class": "fast" }), kinds.claim, "database-data");
        expect(claim.spec.storageClassName).toBe("fast");
        await expect(cloud({ "storage.class": "gone" })).rejects.toThrow(/storage\.class is "gone".*: standard, fast/);
    });

    it("routes its hosts to the gateway, through an Ingress with its class, certificate and annotations", async () => {
        const { metadata, spec } = find(
            await cloud({
                "ingress.hosts": "shop.example.com,www.example.com",
                "ingress.class": "nginx",
                "ingress.tlsSecret": "shop-tls",
                "ingress.annotations": "cert-manager.io/cluster-issuer=letsencrypt",
            }),
            "kubernetes:networking.k8s.io/v1:Ingress",
            "gateway",
        );
        expect(metadata.annotations).toMatchObject({ "cert-manager.io/cluster-issuer": "letsencrypt" });
        expect(spec).toMatchObject({
            ingressClassName: "nginx",
            tls: [{ hosts: ["shop.example.com", "www.example.com"], secretName: "shop-tls" }],
        });
        expect(spec.rules.map(({ host }: { host: string }) => host)).toEqual(["shop.example.com", "www.example.com"]);
    });

    it("shows /products at its first host without a wildcard, with https if it has a certificate", () => {
        expect(ingressUrl({ hosts: ["*.example.com", "shop.example.com"], tlsSecret: "shop-tls" })).toBe(
            "https://shop.example.com/products",
        );
        expect(ingressUrl({ hosts: ["shop.example.com"] })).toBe("http://shop.example.com/products");
        expect(ingressUrl({ hosts: ["*.example.com"] })).toBeUndefined();
    });

    it("gives all pods its node selector, tolerations and image pull Secrets", async () => {
        const placed = await cloud({
            "images.pullSecrets": "registry",
            "nodes.selector": "pool=demo",
            "nodes.tolerations": "dedicated=demo:NoSchedule",
        });
        for (const workload of [...programs, "database", "message-broker"]) {
            expect(podOf(placed, workload), workload).toMatchObject({
                imagePullSecrets: [{ name: "registry" }],
                nodeSelector: { pool: "demo" },
                tolerations: [{ key: "dedicated", operator: "Equal", value: "demo", effect: "NoSchedule" }],
            });
        }
    });

    it("names no user or group where the cluster assigns them, and is restricted nevertheless", async () => {
        const assigned = await cloud({ "pods.userIds": "cluster" });
        for (const workload of [...programs, "database", "message-broker"]) {
            const { securityContext: ids, ...pod } = podOf(assigned, workload);
            const { securityContext: before, ...same } = podOf(graph, workload);
            expect(pod, workload).toEqual(same);
            expect(before, workload).toMatchObject({ runAsUser: expect.any(Number), fsGroup: expect.any(Number) });
            const { runAsUser: _, runAsGroup: __, fsGroup: ___, ...others } = before;
            expect(ids, workload).toEqual(others);
            expect(ids).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } });
        }
        // Nowhere else either: in a container, say.
        expect(JSON.stringify(assigned)).not.toMatch(/"(?:runAsUser|runAsGroup|fsGroup)"/);
    });

    it("names none in the pods of an experiment either", () => {
        expect(runPod(experimentPods({ withoutUserIds: true } as never)).spec.securityContext).toEqual({
            runAsNonRoot: true,
            seccompProfile: { type: "RuntimeDefault" },
        });
        expect(runPod(experimentPods({} as never)).spec.securityContext).toMatchObject({ runAsUser: 1000 });
    });

    it("places the pods of an experiment, too, beside what these have of their own", async () => {
        const dedicated = { key: "dedicated", operator: "Exists" };
        const placed = {
            nodeSelector: { pool: "demo" },
            tolerations: [dedicated],
            pullSecrets: ["registry"],
            priorityClassName: "high",
        };
        expect(runPod(experimentPods(placed as never), [{ key: "own" }]).spec).toMatchObject({
            imagePullSecrets: [{ name: "registry" }],
            nodeSelector: { "kubernetes.io/os": "linux", pool: "demo" },
            tolerations: [{ key: "own" }, dedicated],
            priorityClassName: "high",
        });
    });
});

describe("a local stack", () => {
    const local = (replicas: Record<string, number> = {}) =>
        recordGraph(async () => new Shop("shop", { namespace: "demo", images, replicas }));

    it("has no disruption budget, no claim and no shutdown delay", async () => {
        const graph = await local();
        expect(graph.filter(({ type }) => type === kinds.budget || type === kinds.claim)).toEqual([]);
        expect(JSON.stringify(graph)).not.toContain("SHUTDOWN_DELAY_MS");
    });

    it("changes nothing but the number of replicas and the budget if replicas are set", async () => {
        const [one, three] = [await local(), await local({ "hot-deals": 3 })];
        const { replicas, ...rest } = find(three, kinds.deployment, "hot-deals").spec;
        expect(replicas).toBe(3);
        expect(rest).toEqual(find(one, kinds.deployment, "hot-deals").spec);
        expect(three.length).toBe(one.length + 1);
    });
});
