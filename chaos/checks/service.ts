import type { V1Service } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../cluster/client";

export interface ServiceReference {
    namespace: string;
    name: string;
    port: number;
}

/** Where a Service answers from outside the cluster. */
export interface ServiceAddress {
    /** An IP address or a host name. */
    host: string;
    port: number;
}

/** A Service's external address now. Undefined if it has none, or does not exist. */
export async function addressOf(
    cluster: Cluster,
    { namespace, name }: Pick<ServiceReference, "namespace" | "name">,
): Promise<ServiceAddress | undefined> {
    const service = await ignoreNotFound(cluster.core.readNamespacedService({ name, namespace }));
    return service && externalAddress(service);
}

export function externalAddress(service: V1Service): ServiceAddress | undefined {
    const ingress = service.status?.loadBalancer?.ingress?.[0];
    const host = ingress?.ip ?? ingress?.hostname;
    const port = service.spec?.ports?.[0]?.port;
    return host === undefined || port === undefined ? undefined : { host, port };
}

/** `http://198.18.1.0`, with the port unless it is 80. */
export function baseUrl({ host, port }: ServiceAddress): string {
    const authority = host.includes(":") ? `[${host}]` : host;
    return `http://${authority}${port === 80 ? "" : `:${port}`}`;
}

export type Route = { kind: "address"; url: string } | { kind: "apiServer"; path: string };

export function addressRoute(address: ServiceAddress): Route {
    return { kind: "address", url: baseUrl(address) };
}

export function describeRoute(route: Route): string {
    return route.kind === "address" ? route.url : "the API server's proxy, since no external address answers";
}
