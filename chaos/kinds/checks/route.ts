import type { V1Service, V1ServicePort } from "../../values/kubernetes-types";
import { lookup } from "node:dns/promises";
import { isIP, isIPv6 } from "node:net";
import { type Cluster, unlessForbidden } from "../../cluster/client";
import { serviceNamed, targetPortOf } from "../../values/kubernetes-rules";
import { tcpPortsMeant } from "../../cluster/service-endpoints";
import { podContext } from "../../values/kubectl";
import { few, maxNamed } from "../../values/quoted";
import { answerOf, type Found } from "./answer";
import { askHealth } from "./grpc-health";
import { MissingError, rejectMissing } from "./references";
import { send } from "./request";
import {
    type AddressRoute,
    addressRoute,
    defaultPorts,
    externalAddresses,
    type Route,
    type ServiceAddress,
    type ServiceReference,
} from "./service";
import { otherResources, resources } from "../../cluster/resources";

const answerTimeoutMs = 2_000;

/**
 * Finds a route to a Service: the first of its external addresses that answers, with any HTTP status to `GET /`;
 * otherwise the API server's proxy. None may answer, such as those of minikube without its tunnel, or of a node seen
 * from a laptop.
 */
export async function chooseRoute(cluster: Cluster, service: ServiceReference): Promise<Route> {
    const { namespace, name } = service;
    const found = await cluster.get({ resource: resources.service, namespace, name });
    const addresses = found ? await externalAddressesOf(cluster, found) : [];
    return routeTo(cluster, service, found, addresses);
}

export interface NamedService {
    namespace: string;
    name: string;
    /** @default its only TCP port */
    port?: number | string;
    scheme?: "http" | "https";
    /** Set if it is asked over HTTP/2, which the API server's proxy does not carry. */
    http2?: true;
}

/** No address of a Service answers, and there is no other way to ask it. */
export class SilentError extends Error {
    override readonly name = "SilentError";
}

/**
 * As `chooseRoute`. Over HTTP/2 there is no proxy, but a pod can ask the Service's addresses in the cluster.
 *
 * @throws MissingError if the Service or the port is not there, or no way leads to it over HTTP/2
 * @throws SilentError if no address answers over HTTP/2
 */
export async function findRoute(cluster: Cluster, named: NamedService): Promise<Route> {
    const { namespace, name, scheme, http2 } = named;
    const service = await cluster
        .read({ resource: resources.service, namespace, name })
        .catch((error: unknown) => rejectMissing(cluster, error, "Service", namespace, name));
    const port = servicePortOf(service, named);
    const external = await externalAddressesOf(cluster, service, port);
    if (!http2) return routeTo(cluster, { namespace, name, port }, service, external, scheme);
    const routes = [...ownAddressesOf(cluster, service, port), ...external].map((one) => addressRoute(one, scheme));
    const which = `Service ${namespace}/${name}`;
    if (routes.length === 0)
        throw new MissingError(
            `no external address of ${which} is known, and the API server's proxy does not carry gRPC. Give it one ` +
                "(type LoadBalancer, or NodePort if the account may list nodes), run the update in a pod of this " +
                "cluster, or set `url`",
        );
    const direct = await firstAnswering(routes, answersHealth);
    if (direct) return direct;
    const urls = few(
        routes.map(({ url }) => url),
        maxNamed,
    );
    throw new SilentError(`no address of ${which} answers gRPC: ${urls}`);
}

/** Where a Service is reached inside the cluster. None if this is no pod of it. */
function ownAddressesOf({ kubeconfig }: Cluster, service: V1Service, port: number): ServiceAddress[] {
    if (kubeconfig.getCurrentContext() !== podContext) return [];
    const { name, namespace } = service.metadata!;
    const one = service.spec!.ports!.find((each) => each.port === port)!;
    return addressesInCluster(service, one, [`${name}.${namespace}.svc`]).filter(({ host }) => host !== "None");
}

/** The number of the port that is meant. @throws MissingError that lists the Service's ports */
export function servicePortOf(service: V1Service, { namespace, name, port }: NamedService): number {
    const which = `Service ${namespace}/${name}`;
    const { spec } = service;
    if (spec?.type === "ExternalName")
        throw new MissingError(
            `${which} is of type ExternalName, which has no proxy; set \`url\` to http://${spec.externalName} instead`,
        );
    const meant = tcpPortsMeant(service, port);
    if (meant.length === 1) return meant[0]!.port;
    const ports = tcpPortsMeant(service).map((one) => (one.name ? `${one.port} (${one.name})` : `${one.port}`));
    const there = few(ports, maxNamed) || "none";
    const problem =
        port === undefined ? "has not exactly one TCP port; set `port`" : `has no TCP port ${port}; correct \`port\``;
    throw new MissingError(`${which} ${problem}. Its ports are: ${there}`);
}

/**
 * The addresses of a Service's load balancer or, for type NodePort, of the nodes, if the account may list them. With
 * the traffic policy `Local`, only nodes with a pod of the Service answer, and these change.
 */
async function externalAddressesOf(
    cluster: Cluster,
    service: V1Service,
    port?: number,
): Promise<readonly ServiceAddress[]> {
    const { type, externalTrafficPolicy } = service.spec ?? {};
    const hasNodePorts = type === "NodePort" && externalTrafficPolicy !== "Local";
    const nodes = hasNodePorts ? await unlessForbidden(cluster.all(otherResources.node)) : undefined;
    return externalAddresses(service, port, nodes);
}

/**
 * The Service of a namespace to which a URL leads: by its name in the cluster's DNS, or by one of its addresses inside
 * or outside of the cluster. Undefined if none is seen.
 */
export async function serviceAt(
    cluster: Cluster,
    namespace: string,
    url: string,
): Promise<ServiceReference | undefined> {
    const { host, port: asked } = placeOf(url);
    const services = (await unlessForbidden(cluster.all(resources.service, { namespace }))) ?? [];
    const isNodePort = services.some(({ spec }) => spec?.ports?.some(({ nodePort }) => nodePort === asked));
    const nodes = isNodePort ? await unlessForbidden(cluster.all(otherResources.node)) : undefined;
    const named = serviceNamed(host, namespace);
    const isNamed = ({ metadata }: V1Service) => named?.namespace === namespace && named.name === metadata!.name;
    const answering = services.flatMap((service) =>
        (service.spec?.ports ?? []).flatMap((one) =>
            [
                ...externalAddresses(service, one.port, nodes),
                ...addressesInCluster(service, one, isNamed(service) ? [host] : []),
            ]
                .filter((address) => address.port === asked)
                .map((address) => ({ at: canonical(address.host), name: service.metadata!.name!, port: one.port })),
        ),
    );
    if (answering.length === 0) return undefined;
    const isElsewhere = named !== undefined && isOfCluster(host) && !services.some(isNamed);
    const hosts = [host, ...(isElsewhere ? [] : await addressesAt(host))];
    const found = answering.find(({ at }) => hosts.includes(at));
    return found && { namespace, name: found.name, port: found.port };
}

/** Where a port of a Service is reached inside the cluster. @param names of the Service */
function addressesInCluster({ spec }: V1Service, one: V1ServicePort, names: readonly string[]): ServiceAddress[] {
    const { clusterIP, clusterIPs = [clusterIP], externalIPs = [] } = spec!;
    const target = targetPortOf(one);
    // The name of a headless Service resolves to its pods, which listen at their own port.
    const port = clusterIP === "None" && typeof target === "number" ? target : one.port;
    return [...clusterIPs, ...externalIPs, ...names].flatMap((host) => (host === undefined ? [] : { host, port }));
}

export function placeOf(url: string): ServiceAddress {
    const { hostname, port, protocol } = new URL(url);
    const host = hostname.replace(/^\[|\]$/g, "");
    return { host, port: Number(port) || defaultPorts[protocol === "https:" ? "https" : "http"] };
}

/** A host as `URL` writes it, since an IPv6 address can be written in several ways. */
const canonical = (host: string) => (isIPv6(host) ? placeOf(`http://[${host}]`).host : host);

/** Whether only the cluster's DNS knows a host, as the name of a Service or a pod. */
export const isOfCluster = (host: string): boolean => /\.(?:svc|pod)(?:\.|$)/.test(host);

/** The addresses of a host, or none if this machine cannot look them up. */
export const addressesAt = async (host: string): Promise<string[]> =>
    isIP(host) ? [host] : (await lookup(host, { all: true }).catch(() => [])).map(({ address }) => address);

async function routeTo(
    cluster: Cluster,
    { namespace, name, port }: ServiceReference,
    service: V1Service | undefined,
    addresses: readonly ServiceAddress[],
    scheme?: "http" | "https",
): Promise<Route> {
    const routes = addresses.map((address) => addressRoute(address, scheme));
    const direct = await firstAnswering(routes, (route, signal) => answers(cluster, route, signal));
    if (direct) return direct;
    const target = scheme === "https" ? `https:${name}` : name;
    const path = `/api/v1/namespaces/${namespace}/services/${target}:${port}/proxy`;
    const hasSelector = Object.keys(service?.spec?.selector ?? {}).length > 0;
    return { kind: "apiServer", path, ...(service && !hasSelector && { byHand: true }) };
}

/** The first of some routes at which there is an answer with any HTTP status. */
async function firstAnswering<R extends Route>(
    routes: readonly R[],
    ask: (route: R, signal: AbortSignal) => Promise<Found>,
): Promise<R | undefined> {
    const answers = await Promise.all(routes.map((route) => answerOf((signal) => ask(route, signal), answerTimeoutMs)));
    return routes.find((_, index) => answers[index]!.status !== undefined);
}

/** Whether the certificate is right is decided by the check. */
const anyCertificate = { anyCertificate: true };

function answers(cluster: Cluster, route: Route, signal: AbortSignal): Promise<Found> {
    const request = { path: "/", timeoutMs: answerTimeoutMs, reads: () => "nothing" as const };
    return send(request, cluster, route, signal, anyCertificate);
}

const answersHealth = ({ url }: AddressRoute, signal: AbortSignal): Promise<Found> =>
    askHealth({ service: "", timeoutMs: answerTimeoutMs }, url, signal, anyCertificate);
