import type * as pulumi from "@pulumi/pulumi";
import { type Cluster, orMissing } from "../../shared/kubernetes";
import { checkStorageClass } from "../cluster/storageClass";
import type { StackConfiguration } from "../configuration/read";
import { type Install, installOf } from "../program/ownNamespace";
import { Shop, type ShopArgs } from "../shop/shop";
import { isAttacked } from "./attacked";
import { requireChart } from "./repository";
import { kindsOf, readShopManifest } from "./shopManifest";
import { SuppliedShop } from "./suppliedShop";

/**
 * Puts the shop into the cluster, the way that the stack says.
 *
 * @throws Error where the stack's manifest may not be installed, or the way changes under an attack
 */
export async function installShop(
    name: string,
    configuration: StackConfiguration,
    cluster: Cluster,
    opts: pulumi.ComponentResourceOptions,
): Promise<Shop | SuppliedShop> {
    const { install, namespace, variant, ingress } = configuration;
    const before = await installedAs(cluster, namespace);
    if (before !== undefined && before !== install.kind)
        await refuseUnderAttack(cluster, namespace, before, install.kind);
    switch (install.kind) {
        case "program": {
            const { storage } = configuration;
            if (storage.database || storage.broker) await checkStorageClass(cluster, storage.class);
            return new Shop(name, shopArgsOf(configuration), opts);
        }
        case "chart":
            if (before !== "chart") await requireChart(install.chart);
            return new SuppliedShop(
                name,
                {
                    namespace,
                    variant,
                    source: { install: "chart", chart: install.chart, ingress },
                    cluster,
                    timeoutMs: install.timeoutMs,
                },
                opts,
            );
        case "manifest": {
            const manifest = await readShopManifest(install.manifest, namespace, kindsOf(cluster));
            return new SuppliedShop(
                name,
                {
                    namespace,
                    variant,
                    source: { install: "manifest", manifest },
                    cluster,
                    timeoutMs: install.timeoutMs,
                },
                opts,
            );
        }
    }
}

/** What a stack's settings make of the program's shop. */
export function shopArgsOf({
    namespace,
    variant,
    images,
    replicas,
    gateway,
    ingress,
    storage,
    shutdownDelayMs,
}: StackConfiguration): ShopArgs {
    return {
        namespace,
        variant,
        images,
        replicas,
        gatewayServiceType: gateway.serviceType,
        ingress,
        storage,
        shutdownDelayMs,
    };
}

/** How the shop in a namespace was installed; undefined where there is none. */
async function installedAs({ core }: Cluster, namespace: string): Promise<Install | undefined> {
    const found = await orMissing(core.readNamespace({ name: namespace }));
    return found && installOf(found.metadata?.annotations);
}

/** The namespace is made anew for another way of installing: the attack's objects would go without a word of theirs. */
async function refuseUnderAttack(
    cluster: Cluster,
    namespace: string,
    before: Install,
    install: Install,
): Promise<void> {
    if (!(await isAttacked(cluster, namespace))) return;
    throw new Error(
        `install is "${install}", and the shop in namespace ${namespace} was installed as ${before}: an experiment has it, and would lose it. ` +
            `Nothing was touched. Undo the experiment first: pulumi config set install ${before} && pulumi config set experiment.enabled false && pulumi up`,
    );
}
