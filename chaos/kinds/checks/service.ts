import type { V1Node, V1Service } from "../../values/kubernetes-types";
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
 * A Service's external addresses. A load balancer may have one for each node and each family, and so may nodes. Any of
 * them may not answer.
 *
 * @param port one of the Service's. @default its first
 * @param nodes those that lead a NodePort to it. @default none
 */
export function externalAddresses(
    { spec, status }: V1Service,
    port = spec?.ports?.[0]?.port,
    nodes: readonly V1Node[] = [],
): ServiceAddress[] {
    const nodePort = spec?.ports?.find((one) => one.port === port)?.nodePort;
    const at = (hosts: readonly string[], number?: number) =>
        number === undefined ? [] : hosts.map((host) => ({ host, port: number }));
    const ofBalancer = (status?.loadBalancer?.ingress ?? []).flatMap(({ ip, hostname }) => ip ?? hostname ?? []);
    const ofNodes = nodes.flatMap(({ status: node }) => node?.addresses ?? []);
    const hosts = ["ExternalIP", "InternalIP"].flatMap((wanted) =>
        ofNodes.flatMap(({ type, address }) => (type === wanted ? address : [])),
    );
    return [...at(ofBalancer, port), ...at(hosts, nodePort)];
}

export const externalAddress = (service: V1Service): ServiceAddress | undefined => externalAddresses(service)[0];

export const defaultPorts = { http: 80, https: 443 };

/** Such as `http://198.18.1.0`, with the port unless it is the scheme's. */
export function baseUrl({ host, port }: ServiceAddress, scheme: keyof typeof defaultPorts = "http"): string {
    const authority = host.includes(":") ? `[${host}]` : host;
    return `${scheme}://${authority}${port === defaultPorts[scheme] ? "" : `:${port}`}`;
}

export interface AddressRoute {
    kind: "address";
    url: string;
}

export type Route =
    | AddressRoute
    /** @property byHand set if the Service has no selector: somebody lists its endpoints by hand */
    | { kind: "apiServer"; path: string; byHand?: true };

export function addressRoute(address: ServiceAddress, scheme?: keyof typeof defaultPorts): AddressRoute {
    return { kind: "address", url: baseUrl(address, scheme) };
}

export function describeRoute(route: Route): string {
    return route.kind === "address" ? route.url : "the API server's proxy, since no external address answers";
}
