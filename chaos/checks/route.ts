import type { V1Service, V1ServicePort } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../cluster/client";
import { answerOf } from "./answer";
import { MissingError, rejectMissing } from "./references";
import { send } from "./request";
import { few } from "../targets/pods";
import { addressRoute, externalAddresses, type Route, type ServiceAddress, type ServiceReference } from "./service";

const answerTimeoutMs = 2_000;

/**
 * Finds a route to a Service: the first of its external addresses that answers. None may, as of minikube without its
 * tunnel, or of a node seen from a laptop. Then the API server's proxy is the route. Any HTTP status to `GET /` counts
 * as an answer.
 */
export async function chooseRoute(cluster: Cluster, service: ServiceReference): Promise<Route> {
    const { namespace, name } = service;
    const found = await ignoreNotFound(cluster.core.readNamespacedService({ namespace, name }));
    return routeTo(cluster, service, found ? externalAddresses(found) : []);
}

export interface NamedService {
    namespace: string;
    name: string;
    /** @default its only TCP port */
    port?: number | string;
    scheme?: "http" | "https";
}

/** As `chooseRoute`. @throws MissingError if the Service or the port is not there */
export async function findRoute(cluster: Cluster, named: NamedService): Promise<Route> {
    const { namespace, name, scheme } = named;
    const service = await cluster.core
        .readNamespacedService({ namespace, name })
        .catch((error: unknown) => rejectMissing(cluster, error, "Service", namespace, name));
    const port = portOf(service, named);
    return routeTo(cluster, { namespace, name, port }, externalAddresses(service, port), scheme);
}

/** The TCP ports of a Service that a number or a name means. @param port @default all */
export const tcpPortsMeant = ({ spec }: V1Service, port?: number | string): V1ServicePort[] =>
    (spec?.ports ?? []).filter(
        ({ protocol = "TCP", ...one }) =>
            protocol === "TCP" && (port === undefined || one.port === port || one.name === port),
    );

/** Ports that an error names. */
const maxPorts = 10;

/** The number of the port that is meant. @throws MissingError that lists the Service's ports */
function portOf(service: V1Service, { namespace, name, port }: NamedService): number {
    const which = `Service ${namespace}/${name}`;
    const { spec } = service;
    if (spec?.type === "ExternalName")
        throw new MissingError(
            `${which} is of type ExternalName, which has no proxy; set \`url\` to http://${spec.externalName} instead`,
        );
    const meant = tcpPortsMeant(service, port);
    if (meant.length === 1) return meant[0]!.port;
    const ports = tcpPortsMeant(service).map((one) => (one.name ? `${one.port} (${one.name})` : `${one.port}`));
    const there = few(ports, maxPorts) || "none";
    const problem =
        port === undefined ? "has not exactly one TCP port; set `port`" : `has no TCP port ${port}; correct \`port\``;
    throw new MissingError(`${which} ${problem}. Its ports are: ${there}`);
}

async function routeTo(
    cluster: Cluster,
    { namespace, name, port }: ServiceReference,
    addresses: readonly ServiceAddress[],
    scheme?: "http" | "https",
): Promise<Route> {
    const routes = addresses.map((address) => addressRoute(address, scheme));
    const answering = await Promise.all(routes.map((route) => answers(cluster, route)));
    const direct = routes.find((_, index) => answering[index]);
    if (direct) return direct;
    const target = scheme === "https" ? `https:${name}` : name;
    return { kind: "apiServer", path: `/api/v1/namespaces/${namespace}/services/${target}:${port}/proxy` };
}

/** Whether there is an answer at all. The check decides if the certificate is right. */
async function answers(cluster: Cluster, route: Route): Promise<boolean> {
    const request = { path: "/", reads: () => "nothing" as const };
    const ask = (signal: AbortSignal) => send(request, cluster, route, signal, { anyCertificate: true });
    const { status } = await answerOf(ask, answerTimeoutMs);
    return status !== undefined;
}
