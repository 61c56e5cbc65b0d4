import { load } from "js-yaml";
import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { readConfiguration } from "../../../components/configuration/read";
import { placement } from "../../../components/program/placement";
import { GatewayIngress, ingressUrl } from "../../../components/shop/ingress";
import { Shop } from "../../../components/shop/shop";
import { type Asked, find, images, kinds, recordGraph } from "./support";

const { config } = load(readFileSync("Pulumi.cloud.yaml", "utf8")) as { config: Record<string, string> };
const settings = { ...config, "chaos-shop:kube.context": "production", "chaos-shop:agent.enabled": "false" };

/** What the stack `cloud` asks for, with these settings on top of its file's. */
async function cloud(more: Record<string, string> = {}): Promise<Asked[]> {
    const own = Object.fromEntries(Object.entries(more).map(([key, value]) => [`chaos-shop:${key}`, value]));
    const {
        gateway,
        ingress,
        placement: place,
        ...rest
    } = readConfiguration(
        { ...settings, ...own },
        { project: "chaos-shop", stack: "cloud", experiments: [{ name: "hot-deals-blackhole" }] },
    );
    return recordGraph(async () => {
        const shop = new Shop(
            "shop",
            { ...rest, gatewayServiceType: gateway.serviceType },
            { transformations: placement(place) },
        );
        if (ingress) new GatewayIngress("gateway", { namespace: shop.namespace, ...ingress }, { parent: shop });
    });
}

const programs = ["gateway", "fashion-bestseller", "toys-bestseller", "hot-deals", "orders", "inventory"];
const podOf = (graph: readonly Asked[], workload: string) => find(graph, kinds.deployment, workload).spec.template.spec;
let graph: Asked[];
beforeAll(async () => {
    graph = await cloud();
});

describe("the stack for managed clusters", () => {
    it.each(programs)("has replicas of %s, over nodes and zones, of which one at a time may be evicted", (workload) => {
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

    it("lets the database and the broker be evicted: each is one pod, and would keep its node from being drained for good", () => {
        expect(
            graph
                .filter(({ type }) => type === kinds.budget)
                .map(({ name }) => name)
                .sort(),
        ).toEqual([...programs].sort());
    });

    it.each(["database", "message-broker"])(
        "has the data of %s on a claim of the cluster's default class",
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

    it("has them on a class of its own where it names one", async () => {
        expect(find(await cloud({ "storage.class": "fast" }), kinds.claim, "database-data").spec.storageClassName).toBe(
            "fast",
        );
    });

    it("reaches the gateway by its hosts, through the cluster's own ingress controller", async () => {
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

    it("tells the address of /products by its first host that is one, encrypted where it has a certificate", () => {
        expect(ingressUrl({ hosts: ["*.example.com", "shop.example.com"], tlsSecret: "shop-tls" })).toBe(
            "https://shop.example.com/products",
        );
        expect(ingressUrl({ hosts: ["shop.example.com"] })).toBe("http://shop.example.com/products");
        expect(ingressUrl({ hosts: ["*.example.com"] })).toBeUndefined();
    });

    it("puts all pods where it says, and pulls their images with its Secrets", async () => {
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
});

describe("a local stack", () => {
    it("has none of it: no budget, no claim, no delay", async () => {
        const local = await recordGraph(async () => new Shop("shop", { namespace: "demo", images }));
        expect(local.filter(({ type }) => type === kinds.budget || type === kinds.claim)).toEqual([]);
        expect(JSON.stringify(local)).not.toContain("SHUTDOWN_DELAY_MS");
    });

    it("becomes another by a number of replicas in nothing but that number and the budget", async () => {
        const [one, three] = [
            await recordGraph(async () => new Shop("shop", { namespace: "demo", images })),
            await recordGraph(
                async () => new Shop("shop", { namespace: "demo", images, replicas: { "hot-deals": 3 } }),
            ),
        ];
        const { spec } = find(three, kinds.deployment, "hot-deals");
        const { replicas, ...rest } = spec;
        expect(replicas).toBe(3);
        expect(rest).toEqual(find(one, kinds.deployment, "hot-deals").spec);
        expect(three.length).toBe(one.length + 1);
    });
});
