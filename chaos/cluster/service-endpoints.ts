import type { V1EndpointSlice, V1Service, V1ServicePort } from "../values/kubernetes-types";
import { type Cluster, unlessForbidden } from "./client";
import {
    addressesOf,
    hasEnded,
    isActive,
    isReady,
    type Pod,
    portNumberIn,
    targetPortOf,
} from "../values/kubernetes-rules";
import { selects } from "./label-selector";
import { otherResources, resources } from "./resources";

/** Where a Service leads. */
export interface ServiceEndpoint {
    /** Name of the Service. */
    service: string;
    /** Of the pod. Absent if the EndpointSlice names no pod. */
    uid?: string;
    addresses: string[];
    /** TCP ports at which it is asked, with the names that the Service's ports have: empty if its only one has none. */
    ports: { name: string; port: number }[];
    ready: boolean;
}

/** The label of an EndpointSlice that names its Service. */
const serviceName = "kubernetes.io/service-name";

/**
 * Where Services of a namespace lead, by their EndpointSlices: a controller makes these by a Service's selector, and
 * anybody may make others, also of a Service without a selector. To an account that may not list them, the selectors
 * say it; that misses the others. https://kubernetes.io/docs/concepts/services-networking/endpoint-slices/
 *
 * @param service name of one. @default all
 */
export async function endpointsIn(cluster: Cluster, namespace: string, service?: string): Promise<ServiceEndpoint[]> {
    const slices = await slicesIn(cluster, namespace, service);
    return slices ? slices.flatMap(endpointsOfSlice) : selectedIn(cluster, namespace, service);
}

/** The EndpointSlices of Services. Undefined if the account may not list them. */
function slicesIn(cluster: Cluster, namespace: string, service?: string) {
    const labelSelector = service === undefined ? serviceName : `${serviceName}=${service}`;
    return unlessForbidden(cluster.all(otherResources.endpointSlice, { namespace, labelSelector }));
}

/** Name of an EndpointSlice of a Service that is not made by its selector. Undefined if none is seen. */
export async function sliceByHand(cluster: Cluster, namespace: string, service: string): Promise<string | undefined> {
    const slices = await slicesIn(cluster, namespace, service);
    return slices?.find((one) => isByHand(one) && (one.endpoints ?? []).length > 0)?.metadata!.name;
}

/** Where Services lead by EndpointSlices that are not made by selectors. Empty to an account that may not list them. */
export async function endpointsByHand(cluster: Cluster, namespace: string): Promise<ServiceEndpoint[]> {
    const slices = await slicesIn(cluster, namespace);
    return slices?.filter(isByHand).flatMap(endpointsOfSlice) ?? [];
}

const isByHand = ({ metadata }: V1EndpointSlice) =>
    metadata!.labels!["endpointslice.kubernetes.io/managed-by"] !== "endpointslice-controller.k8s.io";

function endpointsOfSlice({ metadata, endpoints, ports }: V1EndpointSlice): ServiceEndpoint[] {
    const tcp = (ports ?? []).filter(({ protocol }) => (protocol ?? "TCP") === "TCP");
    return (endpoints ?? []).map(({ addresses, conditions, targetRef }) => ({
        service: metadata!.labels![serviceName]!,
        ...(targetRef?.uid && { uid: targetRef.uid }),
        addresses,
        ports: tcp.flatMap(({ name, port }) => (port === undefined ? [] : { name: name ?? "", port })),
        // Unknown counts as ready.
        ready: conditions?.ready ?? true,
    }));
}

async function selectedIn(cluster: Cluster, namespace: string, service?: string): Promise<ServiceEndpoint[]> {
    const [services, pods] = await Promise.all([
        unlessForbidden(cluster.all(resources.service, { namespace })),
        unlessForbidden(cluster.all(resources.pod, { namespace })),
    ]);
    const asked = services?.filter(({ metadata }) => service === undefined || metadata!.name === service) ?? [];
    return asked.flatMap((one) => (pods ?? []).filter((pod) => leadsTo(one, pod)).map((pod) => selectedBy(one, pod)));
}

function leadsTo({ spec }: V1Service, { metadata }: Pod): boolean {
    const matchLabels = spec?.selector ?? {};
    return Object.keys(matchLabels).length > 0 && selects({ matchLabels }, metadata?.labels ?? {});
}

function selectedBy(service: V1Service, pod: Pod): ServiceEndpoint {
    const ports = tcpPortsMeant(service).flatMap((one) => {
        const port = portNumberIn(pod, targetPortOf(one));
        return port === undefined ? [] : { name: one.name ?? "", port };
    });
    return {
        service: service.metadata!.name!,
        uid: pod.metadata!.uid!,
        addresses: addressesOf(pod),
        ports,
        ready: service.spec?.publishNotReadyAddresses ? !hasEnded(pod) : isActive(pod) && isReady(pod),
    };
}

/**
 * The TCP ports of a Service that a number or a name means. A number may be a text, as settings are, unless a port has
 * it as its name, which Kubernetes accepts. @param port @default all
 */
export function tcpPortsMeant({ spec }: V1Service, port?: number | string): V1ServicePort[] {
    const all = (spec?.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP");
    const named = all.filter(({ name }) => port === undefined || name === port);
    return named.length > 0 ? named : all.filter((one) => String(one.port) === String(port));
}

/** Whether a Service leads to a pod there. An EndpointSlice that names no pod has only its address. */
export const isAt = (
    endpoint: ServiceEndpoint,
    { uid, address, addresses = [address] }: { uid: string; address: string; addresses?: readonly string[] },
): boolean =>
    endpoint.uid === undefined ? endpoint.addresses.some((one) => addresses.includes(one)) : endpoint.uid === uid;
