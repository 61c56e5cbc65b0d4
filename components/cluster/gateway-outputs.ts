import * as pulumi from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { externalAddress, type ServiceAddress } from "../../chaos/checks/service";
import { type Cluster, ignoreNotFound } from "../../chaos/cluster/client";
import type { StackConfiguration } from "../configuration/read";
import { productsUrl } from "../shop/gateway";
import { ingressUrl } from "../shop/ingress";
import { accessHint } from "./access-hint";
import type { StackCluster } from "./cluster";
import type { InstalledObject } from "./installed-object";

/** How long to wait for a new gateway's address. A local cluster assigns one at once or never. */
const addressTimeoutMs = { local: 15_000, remote: 300_000 };

export interface GatewayOutputs {
    /** The gateway's external address, or how to reach it without one. */
    gateway: pulumi.Output<ServiceAddress | string>;
    /** URL of `/products`. Undefined if the gateway is not reachable from outside the cluster. */
    productsUrl: pulumi.Output<string | undefined>;
}

/** A stack's outputs about its gateway. */
export function gatewayOutputs(
    service: InstalledObject,
    { namespace, gateway, ingress }: StackConfiguration,
    { api, context }: StackCluster,
): GatewayOutputs {
    const timeoutMs = gateway.addressTimeoutMs ?? addressTimeoutMs[context.local ? "local" : "remote"];
    const address = awaitGatewayAddress(service, api, timeoutMs);
    return {
        gateway: address.apply((found) => found ?? accessHint(context, namespace, gateway.serviceType)),
        productsUrl: address.apply((found) => (found ? productsUrl(found) : ingress && ingressUrl(ingress))),
    };
}

/**
 * The gateway's external address. Every preview and update reads it from the cluster, since a tunnel may start later.
 *
 * An update waits until the Service is `timeoutMs` old. It does not wait for an older Service without an address, such
 * as on a local cluster without a tunnel.
 */
function awaitGatewayAddress(
    service: InstalledObject,
    cluster: Cluster,
    timeoutMs: number,
): pulumi.Output<ServiceAddress | undefined> {
    // The id is known once the Service exists: a preview of a new shop has no address.
    return pulumi.all([service.id, service.metadata]).apply(async ([, { name, namespace }]) => {
        for (;;) {
            const found = await ignoreNotFound(cluster.core.readNamespacedService({ name, namespace }));
            const address = found && externalAddress(found);
            if (address || !found || found.spec?.type !== "LoadBalancer" || pulumi.runtime.isDryRun()) return address;
            const ageMs = Date.now() - new Date(found.metadata!.creationTimestamp!).getTime();
            if (ageMs >= timeoutMs) return undefined;
            await sleep(250);
        }
    });
}
