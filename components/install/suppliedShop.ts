import * as pulumi from "@pulumi/pulumi";
import { gatewayService } from "../../shared/gateway";
import type { Cluster } from "../../shared/kubernetes";
import type { InstalledObject } from "../cluster/installedObject";
import { awaitReady } from "../cluster/ready";
import type { StackConfiguration } from "../configuration/read";
import { DeclaredObject, resourceNameOf } from "../manifest/declaredObject";
import type { ManifestObject } from "../manifest/read";
import { ownNamespace } from "../program/ownNamespace";
import { takeOver } from "../program/takeOver";
import { isAttacked } from "./attacked";
import { type Chart, chartRelease } from "./chart";
import type { ShopManifest } from "./shopManifest";

export interface SuppliedShopArgs {
    /** Namespace that the shop is put into; made with it. */
    namespace: string;
    /** Where its objects come from. */
    source: ({ install: "chart"; chart: Chart } & IngressValues) | { install: "manifest"; manifest: ShopManifest };
    /** `seven`: orders, inventory and message-broker may stay Pending, which must hold nobody up. */
    variant: "four" | "seven";
    /** For looking whether it is ready. */
    cluster: Cluster;
    /** How long it may take to get ready. */
    timeoutMs: number;
}

interface IngressValues {
    /** Handed to the chart as its values `ingress`. @default none */
    ingress?: StackConfiguration["ingress"];
}

/** Name of the shop's release. */
const release = "shop";

/**
 * A shop that somebody else describes: a chart, or a manifest. Experiments, targets and outputs find in it what they
 * need by what every shop has: the Service `gateway`, and workloads with attributes.
 */
export class SuppliedShop extends pulumi.ComponentResource {
    readonly namespace: pulumi.Output<string>;
    readonly gateway: { service: InstalledObject };
    /** Known once it is ready. */
    readonly installed: pulumi.Output<unknown>;
    /** Workloads that no update waits for, since they may find no room. */
    readonly mayStayPending: readonly string[];
    /** This shop, once it is ready; an error where it does not get so. */
    readonly whenReady: pulumi.Output<pulumi.Resource>;

    constructor(name: string, args: SuppliedShopArgs, opts?: pulumi.ComponentResourceOptions) {
        // The type of the program's shop, so that its namespace is the same resource.
        super("chaos-shop:shop:Shop", name, {}, opts);
        const { namespace, source, variant, cluster, timeoutMs } = args;
        // From the beginning of the update: whatever it takes to install is part of the limit.
        const giveUpAt = Date.now() + timeoutMs;
        // A shop that somebody else describes may ask for more than the `restricted` level admits.
        const level = source.install === "manifest" ? source.manifest.namespaceLabels : {};
        this.namespace = ownNamespace(namespace, level, { parent: this }, source.install).metadata.name;

        this.mayStayPending = variant === "seven" ? ["orders", "inventory", "message-broker"] : [];
        const installed =
            source.install === "chart" ? this.installChart(source, timeoutMs) : this.installManifest(source.manifest);
        this.whenReady = installed.apply(
            () =>
                new Promise<pulumi.Resource>((ready, failed) => {
                    // Not awaited: outputs wait for one another in a circle, and for an error Node would follow it without end.
                    shopReady(cluster, namespace, this.mayStayPending, giveUpAt, timeoutMs).then(
                        () => ready(this),
                        (error: unknown) => failed(error),
                    );
                }),
        );
        this.installed = this.whenReady;
        this.gateway = {
            service: { id: installed, metadata: this.whenReady.apply(() => ({ name: gatewayService, namespace })) },
        };
        this.registerOutputs({});
    }

    private installChart(
        { chart, ingress }: { chart: Chart } & IngressValues,
        timeoutMs: number,
    ): pulumi.Output<unknown> {
        // The host by the name that the upstream demo's chart has for it, too.
        const values = ingress === undefined ? {} : { ingress, gateway: { ingress: { host: ingress.hosts[0] } } };
        return chartRelease(release, { chart, release, namespace: this.namespace, values, timeoutMs }, { parent: this })
            .id;
    }

    private installManifest({ objects }: ShopManifest): pulumi.Output<unknown> {
        const make = (object: ManifestObject, dependsOn: pulumi.Resource[] = []) =>
            new DeclaredObject(
                resourceNameOf(release, object),
                { object, namespace: this.namespace },
                { parent: this, transformations: [takeOver], dependsOn },
            );
        // A pod that is made before its account, or what it mounts, is tried again only after a while.
        const [workloads, others] = [
            objects.filter(({ kind }) => runsPods.includes(kind)),
            objects.filter(({ kind }) => !runsPods.includes(kind)),
        ];
        const first = others.map((object) => make(object));
        return pulumi.all([...first, ...workloads.map((object) => make(object, first))].map(({ id }) => id));
    }
}

const runsPods = ["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "Job", "CronJob", "Pod"];

/** Waits until a shop is ready, but for what an experiment attacks: that cannot get ready as long as it is attacked. */
async function shopReady(
    cluster: Cluster,
    namespace: string,
    mayStayPending: readonly string[],
    giveUpAt: number,
    timeoutMs: number,
): Promise<void> {
    if (await isAttacked(cluster, namespace)) return;
    const includes = ({ name }: { name?: string }) => !mayStayPending.includes(name!);
    await awaitReady(cluster, "the shop", [{ namespace, includes }], giveUpAt, timeoutMs);
}
