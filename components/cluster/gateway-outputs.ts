import * as pulumi from "@pulumi/pulumi";
import { join } from "shlex";
import { setTimeout as sleep } from "node:timers/promises";
import { kubectl } from "../../chaos/values/kubectl";
import { externalAddress, type ServiceAddress } from "../../chaos/kinds/checks/service";
import { type Cluster, sentAt } from "../../chaos/cluster/client";
import type { AllowedContext } from "../../chaos/cluster/guard";
import type { StackConfiguration } from "../configuration/read";
import { productsUrl } from "../shop/gateway";
import { ingressUrl } from "../shop/ingress";
import type { StackCluster } from "./cluster";
import { pulumiCommand } from "../pulumi-command";
import { resources } from "../../chaos/cluster/resources";

/** An object that the stack installed. Resources of Pulumi's Kubernetes provider implement this. */
export interface InstalledObject {
    /** Known once the object exists. */
    id: pulumi.Output<unknown>;
    metadata: pulumi.Output<{ name: string; namespace: string }>;
}

/** How long to wait for a new gateway's address. A local cluster assigns one at once or never. */
const addressTimeoutMs = { local: 15_000, remote: 300_000 };

export function gatewayOutputs(
    service: InstalledObject,
    { namespace, gateway, ingress }: StackConfiguration,
    { api, context }: StackCluster,
) {
    const timeoutMs = gateway.addressTimeoutMs ?? addressTimeoutMs[context.local ? "local" : "remote"];
    const address = awaitGatewayAddress(service, api, timeoutMs);
    return {
        /** The gateway's external address, or how to reach it without one. */
        gateway: address.apply((found) => found ?? accessHint(context, namespace, gateway.serviceType)),
        /** URL of `/products`. Undefined if the gateway is not reachable from outside the cluster. */
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
            const found = await cluster.get({ resource: resources.service, name, namespace });
            const address = found && externalAddress(found);
            if (address || !found || found.spec?.type !== "LoadBalancer" || pulumi.runtime.isDryRun()) return address;
            const ageMs = sentAt(found) - Date.parse(found.metadata!.creationTimestamp!);
            if (ageMs >= timeoutMs) return undefined;
            await sleep(250);
        }
    });
}

/**
 * How to reach a gateway that has no external address, with the command for this kind of cluster.
 *
 * @param serviceType the type of the gateway's Service
 */
export function accessHint(
    { name, local }: Pick<AllowedContext, "name" | "local">,
    namespace: string,
    serviceType: string,
): string {
    const forward =
        `${kubectl({ context: name, namespace })} port-forward service/gateway 8080:80, ` +
        "then http://127.0.0.1:8080/products";
    if (serviceType !== "LoadBalancer")
        return `no external address, since gateway.serviceType is ${serviceType}; reach it with: ${forward}`;
    const needsPort = `: ${local} assigns one if port 80 is free; another Service may use it; reach it with`;
    const tunnel = join(["minikube", "tunnel", "--profile", name]);
    const hints: Record<string, string> = {
        minikube: ` until you run: ${tunnel}, then \`${pulumiCommand(["up"])}\`; or without a tunnel`,
        kind: ": kind assigns one only if cloud-provider-kind runs; reach it with",
        k3d: needsPort,
        "Docker Desktop": needsPort,
        "Rancher Desktop": needsPort,
    };
    const hint = hints[local ?? ""] ?? ` yet; \`${pulumiCommand(["up"])}\` shows it once there is one; until then`;
    return `no external address${hint}: ${forward}`;
}
