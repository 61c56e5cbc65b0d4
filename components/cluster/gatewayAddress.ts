import * as pulumi from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { externalAddress, type GatewayAddress } from "../../shared/gateway";
import { type Cluster, orMissing } from "../../shared/kubernetes";
import type { InstalledObject } from "./installedObject";

/**
 * The gateway's external address, read from the cluster on every preview and update, so that a tunnel that was begun
 * later shows up in the outputs.
 *
 * A Service that is younger than `timeoutMs` is waited for during an update; an older one without an address (a local
 * cluster without its tunnel) holds nothing up.
 */
export function awaitGatewayAddress(
    service: InstalledObject,
    cluster: Cluster,
    timeoutMs: number,
): pulumi.Output<GatewayAddress | undefined> {
    // The id is known once the Service is there; a preview of a new shop has no address to tell.
    return pulumi.all([service.id, service.metadata]).apply(async ([, { name, namespace }]) => {
        for (;;) {
            const found = await orMissing(cluster.core.readNamespacedService({ name, namespace }));
            const address = found && externalAddress(found);
            if (address || !found || found.spec?.type !== "LoadBalancer" || pulumi.runtime.isDryRun()) return address;
            const ageMs = Date.now() - new Date(found.metadata!.creationTimestamp!).getTime();
            if (ageMs >= timeoutMs) return undefined;
            await sleep(250);
        }
    });
}
