import type { V1Service, V1ServicePort } from "@kubernetes/client-node";
import { kubectlFor } from "../../kubectl";
import { type Cluster, ignoreNotFound } from "../../cluster/client";
import { hasEnded, isReady, type Pod, portNumberIn } from "../../cluster/kubernetes-rules";
import { annotations, labels, selectorOf } from "../../cluster/labels";
import { sliceByHand } from "../../cluster/service-endpoints";
import { ReasonError } from "../../reasons";
import type { Found } from "../kind";
import { listenersFor } from "./listeners";
import { bindingOf, whyBypassed, whyInMesh } from "./outside";
import type { Fault } from "./proxy/protocol";

/** The Service of a fault, as the run found it. */
export interface FoundService {
    /** Its name. */
    service: string;
    /** What selected its pods before. */
    selector: Record<string, string>;
    ports: FoundPort[];
    publishNotReadyAddresses?: true;
    /** Its first family of addresses: its pods may listen in that alone. Absent if it does not say. */
    family?: string;
    /** Its pods that were ready. */
    pods: string[];
}

export interface FoundPort {
    /** Empty if the Service's only port has no name. */
    name: string;
    /** Of the Service. */
    port: number;
    /** Where its pods listen: a number, or the name of a port of theirs. */
    target: number | string;
    /** Where the proxy listens: as its pods do, if these agree on a number. */
    listen: number;
    /** Those of `pods` that have no port of that name: it leads nowhere in them. Absent if there are none. */
    without?: string[];
    /** Where those of `pods` listen that do not at `listen`. Absent if there are none. */
    elsewhere?: Record<string, number>;
    appProtocol?: string;
}

/** Finds the Service that a fault is done to. @throws ReasonError if that is not possible */
export async function findService(
    cluster: Cluster,
    namespace: string,
    { service, ...rest }: Pick<Fault, "service" | "abort" | "match">,
): Promise<Found<FoundService>> {
    const { core } = cluster;
    const found = await ignoreNotFound(core.readNamespacedService({ name: service, namespace }));
    const services = `${kubectlFor(cluster, namespace)} get services`;
    if (found === undefined)
        throw new ReasonError(
            "service-unfit",
            `there is no Service ${service} in namespace ${namespace}`,
            `Name one of: ${services}`,
        );
    const refuseIf = (reason: string | undefined) => {
        if (reason !== undefined) throw unfit(service, reason, services);
    };
    refuseIf(whyRefused(found, rest));
    const selector = found.spec!.selector!;
    const [{ items }, binding, byHand] = await Promise.all([
        core.listNamespacedPod({ namespace, labelSelector: selectorOf(selector) }),
        bindingOf(cluster, { namespace, service }),
        sliceByHand(cluster, namespace, service),
    ]);
    refuseIf(byHand && `its EndpointSlice ${byHand} is not made by its selector, and callers would still reach it`);
    const pods = items.filter((pod) => !hasEnded(pod));
    refuseIf(whyBypassed(found, pods, binding) ?? whyInMesh(pods) ?? whyNowhere(found, pods));
    const ports = portsOf(found.spec!.ports!, pods);
    const without = pods.filter((pod) => isNowhereIn(found, pod)).map(nameOf);
    const conditions = Object.entries(selector).map(([key, value]) => `k8s.label.${key}=${value}`);
    if (without.length > 0) conditions.push(`k8s.pod.name!=${without.join("|")}`);
    return {
        found: {
            service,
            selector,
            ports,
            ...(found.spec!.ipFamilies?.[0] && { family: found.spec!.ipFamilies[0] }),
            ...(found.spec!.publishNotReadyAddresses && { publishNotReadyAddresses: true as const }),
            pods: pods.filter(isReady).map(nameOf),
        },
        conditions: conditions.join(),
        origin: `Service ${service}`,
    };
}

/** Where a proxy connects. */
export const connectionsOf = ({ pods, ports }: Pick<FoundService, "pods" | "ports">) =>
    pods.map((pod) => ({
        pod,
        ports: ports.flatMap(({ listen, without, elsewhere }) =>
            without?.includes(pod) ? [] : (elsewhere?.[pod] ?? listen),
        ),
    }));

const nameOf = ({ metadata }: Pod) => metadata!.name!;
const targetOf = ({ port, targetPort }: V1ServicePort): number | string => targetPort ?? port;

const isNowhereIn = ({ spec }: V1Service, pod: Pod) =>
    spec!.ports!.every((port) => portNumberIn(pod, targetOf(port)) === undefined);

/** Why a Service leads to none of its pods, although it has some. Undefined if it leads to one. */
function whyNowhere(service: V1Service, pods: readonly Pod[]): string | undefined {
    if (pods.length === 0 || pods.some((pod) => !isNowhereIn(service, pod))) return undefined;
    const names = service.spec!.ports!.map(targetOf).join(" or ");
    return `none of its pods has a TCP port named ${names}`;
}

function portsOf(ports: readonly V1ServicePort[], pods: readonly Pod[]): FoundPort[] {
    const listeners = listenersFor(ports.map(targetOf), pods);
    return ports.map((one, index) => {
        const { name = "", port, appProtocol } = one;
        const target = targetOf(one);
        const listen = listeners[index]!;
        const numbers = pods.filter(isReady).map((pod) => [nameOf(pod), portNumberIn(pod, target)] as const);
        const without = numbers.flatMap(([pod, number]) => (number === undefined ? pod : []));
        const elsewhere = numbers.filter(([, number]) => number !== undefined && number !== listen);
        return {
            name,
            port,
            target,
            listen,
            ...(without.length > 0 && { without }),
            ...(elsewhere.length > 0 && { elsewhere: Object.fromEntries(elsewhere) as Record<string, number> }),
            ...(appProtocol && { appProtocol }),
        };
    });
}

/** Why no proxy can take a Service's place without a change that callers would notice. Undefined if one can. */
export function whyRefused(
    { metadata, spec }: V1Service,
    { abort, match }: Pick<Fault, "abort" | "match"> = {},
): string | undefined {
    const { selector = {} } = spec!;
    if (metadata?.annotations?.[annotations.pointing] !== undefined || labels.proxy in selector)
        return "another fault has taken its place; wait until that has ended, or disable it";
    return whyUnserved({ spec }, { abort, match });
}

/** The same of a Service whose place a proxy has taken. */
function whyUnserved({ spec }: V1Service, { abort, match }: Pick<Fault, "abort" | "match">): string | undefined {
    const { type, clusterIP, selector = {}, sessionAffinity, ports = [] } = spec!;
    if (type === "ExternalName") return "it has the type ExternalName, and no pods";
    if (clusterIP === "None")
        return "it is headless, so its callers connect to the pods themselves; name another Service";
    if (Object.keys(selector).length === 0)
        return "it has no selector: its EndpointSlices are made by hand, and callers would still reach them";
    if (sessionAffinity === "ClientIP")
        return "it has sessionAffinity ClientIP, which a proxy would not keep; allowed: None";
    if (spec!.internalTrafficPolicy === "Local" || spec!.externalTrafficPolicy === "Local")
        return "it has a traffic policy Local, so other nodes' callers would not reach the proxy; allowed: Cluster";
    const other = ports.find(({ protocol = "TCP" }) => protocol !== "TCP");
    if (other) return `its port ${other.port} is ${other.protocol}; allowed: TCP`;
    const opaque = ports.find((port) => isNotHttp1(port));
    if (opaque === undefined) return undefined;
    const says = `HTTP/1.1 in clear text, and its port ${opaque.port} says ${opaque.appProtocol ?? opaque.name}`;
    if (match !== undefined) return `match reads requests in ${says}; allowed: no match`;
    return typeof abort === "number" ? `abort ${abort} answers ${says}; allowed: "reset" or "hang"` : undefined;
}

/**
 * What of a Service somebody has changed since a proxy took its place, so that the proxy does not serve all of its
 * callers any more. Undefined if it does.
 *
 * @param ports as the run found them
 */
export function whyServedNoMore(
    { spec }: V1Service,
    ports: readonly Pick<FoundPort, "name" | "port" | "target">[],
    fault: Pick<Fault, "service" | "abort" | "match">,
): string | undefined {
    const changed = `somebody has changed Service ${fault.service}`;
    const unserved = whyUnserved({ spec }, fault);
    if (unserved !== undefined) return `${changed}: ${unserved}`;
    const described = (some: typeof ports) =>
        some
            .map(({ name, port, target }) => `${name && `${name} `}${port} to ${target}`)
            .sort()
            .join(", ");
    const now = described(spec!.ports!.map((one) => ({ name: one.name ?? "", port: one.port, target: targetOf(one) })));
    const then = described(ports);
    return now === then ? undefined : `${changed}: its ports are ${now}, and were ${then}`;
}

/**
 * What a port is called that speaks HTTP/2, TLS, or the protocol of a database:
 * https://kubernetes.io/docs/concepts/services-networking/service, and
 * https://istio.io/latest/docs/ops/configuration/traffic-management/protocol-selection. Not `tcp`, which HTTP is, too.
 */
const isNotHttp1 = ({ name = "", appProtocol }: V1ServicePort) =>
    appProtocol === undefined
        ? /^(grpc|grpc-web|http2|h2c|https|tls|mongo|mysql|redis)(-|$)/.test(name)
        : /^(kubernetes\.io\/h2c|kubernetes\.io\/wss|grpc|http2|h2c|https|tls|mongo|mysql|redis)$/i.test(appProtocol);

/** A Service that the proxy of a fault cannot stand for. */
const unfit = (service: string, reason: string, services: string) =>
    new ReasonError(
        "service-unfit",
        `a fault cannot be done to Service ${service}: ${reason}`,
        `Change it, or name another one of: ${services}`,
    );
