import type { V1Service } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../cluster/client";

export interface ServiceReference {
    namespace: string;
    name: string;
    port: number;
}

export interface ServiceAddress {
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

/** @param port one of the Service's. @default its first */
export function externalAddress(service: V1Service, port = service.spec?.ports?.[0]?.port): ServiceAddress | undefined {
    const ingress = service.status?.loadBalancer?.ingress?.[0];
    const host = ingress?.ip ?? ingress?.hostname;
    return host === undefined || port === undefined ? undefined : { host, port };
}

const defaultPorts = { http: 80, https: 443 };

/** `http://198.18.1.0`, with the port unless it is the scheme's. */
export function baseUrl({ host, port }: ServiceAddress, scheme: keyof typeof defaultPorts = "http"): string {
    const authority = host.includes(":") ? `[${host}]` : host;
    return `${scheme}://${authority}${port === defaultPorts[scheme] ? "" : `:${port}`}`;
}

export type Route = { kind: "address"; url: string } | { kind: "apiServer"; path: string };

export function addressRoute(address: ServiceAddress, scheme?: keyof typeof defaultPorts): Route {
    return { kind: "address", url: baseUrl(address, scheme) };
}

export function describeRoute(route: Route): string {
    return route.kind === "address" ? route.url : "the API server's proxy, since no external address answers";
}
