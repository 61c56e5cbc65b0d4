import type { V1Service } from "@kubernetes/client-node";
export interface ServiceReference {
    namespace: string;
    name: string;
    port: number;
}

export interface ServiceAddress {
    host: string;
    port: number;
}

/**
 * A Service's external addresses: a load balancer may have one for each node, and each family. Any of them may be one
 * that does not answer.
 *
 * @param port one of the Service's. @default its first
 */
export function externalAddresses(service: V1Service, port = service.spec?.ports?.[0]?.port): ServiceAddress[] {
    const hosts = (service.status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
    return port === undefined ? [] : hosts.map((host) => ({ host, port }));
}

/** The first one. Undefined if it has none. */
export const externalAddress = (service: V1Service): ServiceAddress | undefined => externalAddresses(service)[0];

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
