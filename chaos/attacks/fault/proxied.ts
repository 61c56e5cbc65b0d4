import type { V1Pod, V1Service, V1ServicePort } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../../cluster/client";
import { annotations, labels } from "../../cluster/labels";
import { isReady, type Target } from "../../targets/containers";
import type { Abort } from "./proxy/protocol";

/** A Service whose place a proxy takes, as the run found it. */
export interface Proxied {
    /** Its name. */
    service: string;
    /** What selected its pods before. */
    selector: Record<string, string>;
    ports: ProxiedPort[];
    publishNotReadyAddresses?: true;
    /** Its pods that are no targets. */
    others: string[];
    /** Address of the deadline Job's pod, whose connections the proxy takes for probes. Absent until it runs. */
    witness?: string;
}

export interface ProxiedPort {
    /** Empty if the Service's only port has no name. */
    name: string;
    /** Of the Service. */
    port: number;
    /** Where its pods listen: a number, or the name of a port of theirs. */
    target: number | string;
    /** Where they listen, as a number, and the proxy does. */
    listen: number;
    appProtocol?: string;
}

/** What a fault says of its Service. */
interface FaultOfService {
    service: string;
    abort?: Abort;
}

/** An attack that may name a Service. */
interface Request {
    target: string;
    attack: { kind: string } & Partial<FaultOfService>;
}

/** A Service whose place a proxy can take. @throws Error that names the reason if it cannot */
async function findProxied({ core }: Cluster, namespace: string, { service, abort }: FaultOfService): Promise<Proxied> {
    const found = await ignoreNotFound(core.readNamespacedService({ name: service, namespace }));
    if (found === undefined) {
        throw new Error(
            `there is no Service ${service} in namespace ${namespace}; name one of: kubectl --namespace ${namespace} ` +
                "get services",
        );
    }
    const reason = whyNotProxied(found, abort);
    if (reason !== undefined) {
        throw new Error(
            `a fault cannot be done to Service ${service}: ${reason}. Change it, or name another one of: ` +
                `kubectl --namespace ${namespace} get services`,
        );
    }
    const selector = found.spec!.selector!;
    const labelSelector = Object.entries(selector)
        .map(([key, value]) => `${key}=${value}`)
        .join();
    const { items } = await core.listNamespacedPod({ namespace, labelSelector });
    const ports = found.spec!.ports!.map((port) => proxiedPort(port, items, service));
    requireOneName(ports, service);
    return {
        service,
        selector,
        ports,
        ...(found.spec!.publishNotReadyAddresses && { publishNotReadyAddresses: true as const }),
        others: items.filter(isReady).map(({ metadata }) => metadata!.name!),
    };
}

/** Why no proxy can take a Service's place without a change that callers would notice. Undefined if one can. */
export function whyNotProxied({ metadata, spec }: V1Service, abort?: Abort): string | undefined {
    const { type, clusterIP, selector = {}, sessionAffinity, ports = [] } = spec!;
    if (metadata?.annotations?.[annotations.pointing] !== undefined || labels.proxy in selector)
        return "another fault has taken its place; wait until that has ended, or disable it";
    if (type === "ExternalName") return "it has the type ExternalName, and no pods";
    if (clusterIP === "None")
        return "it is headless, so its callers connect to the pods themselves; name another Service";
    if (Object.keys(selector).length === 0) return "it has no selector, so nobody knows its pods";
    if (sessionAffinity === "ClientIP")
        return "it has sessionAffinity ClientIP, which a proxy would not keep; allowed: None";
    if (spec!.internalTrafficPolicy === "Local" || spec!.externalTrafficPolicy === "Local")
        return "it has a traffic policy Local, so other nodes' callers would not reach the proxy; allowed: Cluster";
    const other = ports.find(({ protocol = "TCP" }) => protocol !== "TCP");
    if (other) return `its port ${other.port} is ${other.protocol}; allowed: TCP`;
    if (typeof abort !== "number") return undefined;
    const opaque = ports.find((port) => isNotHttp1(port));
    return (
        opaque &&
        `abort ${abort} answers HTTP/1.1 in clear text, and its port ${opaque.port} says ` +
            `${opaque.appProtocol ?? opaque.name}; allowed: "reset" or "hang"`
    );
}

/** What a port is called that speaks HTTP/2 or TLS: https://kubernetes.io/docs/concepts/services-networking/service. */
const isNotHttp1 = ({ name = "", appProtocol }: V1ServicePort) =>
    appProtocol === undefined
        ? /^(grpc|grpc-web|http2|h2c|https|tls)(-|$)/.test(name)
        : /^(kubernetes\.io\/h2c|kubernetes\.io\/wss|grpc|http2|h2c|https|tls)$/i.test(appProtocol);

function proxiedPort({ name = "", port, targetPort, appProtocol }: V1ServicePort, pods: V1Pod[], service: string) {
    const target = targetPort ?? port;
    const named = () =>
        pods
            .flatMap(({ spec }) => spec!.containers.flatMap(({ ports = [] }) => ports))
            .find((one) => one.name === target)?.containerPort;
    const listen = typeof target === "number" ? target : named();
    if (listen !== undefined) return { name, port, target, listen, ...(appProtocol && { appProtocol }) };
    throw new Error(`a fault cannot be done to Service ${service}: none of its pods has a port named ${target}`);
}

/** @throws Error if the Service knows a port of its pods by two names: its proxy can have one */
function requireOneName(ports: readonly ProxiedPort[], service: string): void {
    for (const { listen } of ports) {
        const same = ports.filter((port) => port.listen === listen && typeof port.target === "string");
        const names = [...new Set(same.map(({ target }) => target))];
        if (names.length > 1)
            throw new Error(
                `a fault cannot be done to Service ${service}: its target ports ${names.join(" and ")} are the same ` +
                    `port ${listen} of its pods; allowed: one name for a port`,
            );
    }
}

/**
 * The Services of some attacks, in their order, and the attacks with only the pods of these among their targets.
 * Attacks that name no Service stay as they are.
 *
 * @throws Error as `findProxied` does
 */
export async function behindServices<A extends Request>(
    cluster: Cluster,
    { namespace, attacks }: { namespace: string; attacks: readonly A[] },
): Promise<{ proxied: (Proxied | undefined)[]; attacks: A[] }> {
    const proxied = await Promise.all(
        attacks.map(async ({ attack: { service, abort } }) =>
            service === undefined ? undefined : findProxied(cluster, namespace, { service, abort }),
        ),
    );
    const narrowed = attacks.map((one, index) => {
        const found = proxied[index];
        return found === undefined ? one : { ...one, target: `${one.target},${conditionsOf(found)}` };
    });
    return { proxied, attacks: narrowed };
}

/** The pods of a Service that an attack leaves alone. */
export const withoutTargets = (proxied: Proxied, targets: readonly Target[]): Proxied => ({
    ...proxied,
    others: proxied.others.filter((pod) => targets.every((target) => target.pod !== pod)),
});

/** The attribute conditions that describe the pods of a Service. */
const conditionsOf = ({ selector }: Proxied): string =>
    Object.entries(selector)
        .map(([key, value]) => `k8s.label.${key}=${value}`)
        .join();
