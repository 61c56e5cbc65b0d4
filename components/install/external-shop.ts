import * as pulumi from "@pulumi/pulumi";
import { gatewayService } from "../shop/gateway";
import type { Cluster } from "../../chaos/cluster/client";
import { labels } from "../../chaos/cluster/labels";
import type { InstalledObject } from "../cluster/gateway-outputs";
import { awaitReady } from "../cluster/ready";
import { declareObjects } from "../manifest/declared-object";
import type { ShopArgs } from "../shop/shop";
import { ownNamespace } from "../base/own-namespace";
import { forceOwnership } from "../base/workload-parts";
import { type Chart, chartRelease } from "./chart";
import type { ShopManifest } from "./shop-manifest";
import { resources } from "../../chaos/cluster/resources";

export interface ExternalShopArgs {
    /** The shop's namespace, created with it. */
    namespace: string;
    /** The stack's identity; see `StackCluster`. @default none */
    identity?: pulumi.Input<string>;
    /** A chart gets the Ingress as values. */
    source:
        | { install: "chart"; chart: Chart; ingress?: ShopArgs["ingress"] }
        | { install: "manifest"; manifest: ShopManifest };
    /** `seven`: updates do not wait for orders, inventory and message-broker, which may stay Pending. */
    variant: "four" | "seven";
    cluster: Cluster;
    timeoutMs: number;
}

/** The shop's Helm release, and the prefix of resource names. */
const release = "shop";

/**
 * A shop from a chart or a manifest. Experiments and outputs need only its Service `gateway` and the attributes of its
 * workloads.
 */
export class ExternalShop extends pulumi.ComponentResource {
    readonly namespace: pulumi.Output<string>;
    readonly gateway: { service: InstalledObject };
    readonly installed: pulumi.Output<unknown>;
    /** Workloads that no update waits for: a small node may have no room for them. */
    readonly mayStayPending: readonly string[];
    /** Resolves with this shop when it is ready, and rejects if it does not become ready in time. */
    readonly whenReady: pulumi.Output<pulumi.Resource>;

    constructor(name: string, args: ExternalShopArgs, opts?: pulumi.ComponentResourceOptions) {
        // The type of the program's Shop: their namespaces must have the same URN.
        super("chaos-shop:shop:Shop", name, {}, opts);
        const { namespace, identity, source, variant, cluster, timeoutMs } = args;
        // The limit includes the time that the installation takes.
        const giveUpAt = Date.now() + timeoutMs;
        // A chart or a manifest may need more than the `restricted` level admits.
        const labels = source.install === "manifest" ? source.manifest.namespaceLabels : {};
        const { install } = source;
        this.namespace = ownNamespace(namespace, { identity, labels, install }, { parent: this }).metadata.name;

        this.mayStayPending = variant === "seven" ? ["orders", "inventory", "message-broker"] : [];
        const installed = this.install(source, timeoutMs);
        // Waits for nothing during an attack, which may keep the shop from becoming ready.
        const becomeReady = async () => {
            if (await isAttacked(cluster, namespace)) return;
            const includes = ({ name }: { name?: string }) => !this.mayStayPending.includes(name!);
            await awaitReady(cluster, "the shop", [{ namespace, includes }], giveUpAt, timeoutMs);
        };
        this.whenReady = installed.apply(
            // Not async: the output would wait for itself, and an error's trace would never end.
            () => new Promise<pulumi.Resource>((ready, failed) => void becomeReady().then(() => ready(this), failed)),
        );
        this.installed = this.whenReady;
        this.gateway = {
            service: {
                id: installed,
                metadata: this.whenReady.apply(() => ({ name: gatewayService.name, namespace })),
            },
        };
        this.registerOutputs({});
    }

    /** @returns resolves when all objects are in the cluster */
    private install(source: ExternalShopArgs["source"], timeoutMs: number): pulumi.Output<unknown> {
        const { namespace } = this;
        if (source.install === "chart") {
            const { chart, ingress } = source;
            // The upstream demo's chart reads gateway.ingress.host.
            const values = ingress === undefined ? {} : { ingress, gateway: { ingress: { host: ingress.hosts[0] } } };
            return chartRelease(release, { chart, release, namespace, values, timeoutMs }, { parent: this }).id;
        }
        // Kubernetes retries a pod that precedes its ServiceAccount or volumes only after a while.
        const isFirst = ({ kind }: { kind: string }) => !runsPods.includes(kind);
        const opts = { parent: this, transformations: [forceOwnership] };
        return declareObjects(release, source.manifest.objects, isFirst, () => ({ namespace }), opts);
    }
}

const runsPods = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"];

export async function isAttacked(cluster: Cluster, namespace: string): Promise<boolean> {
    return (await cluster.all(resources.pod, { namespace, labelSelector: labels.target })).length > 0;
}
