import type { V1Pod, V1Service, V1ServicePort } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound } from "../../cluster/client";
import { annotations, labels, selectorOf } from "../../cluster/labels";
import { ReasonError } from "../../reasons";
import { isReady } from "../../targets/containers";
import type { Found } from "../kind";
import type { Fault } from "./proxy/protocol";

/** The Service of a fault, as the run found it. */
export interface FoundService {
    /** Its name. */
    service: string;
    /** What selected its pods before. */
    selector: Record<string, string>;
    ports: FoundPort[];
    publishNotReadyAddresses?: true;
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
    /** Where they listen, as a number, and the proxy does. */
    listen: number;
    appProtocol?: string;
}

/** Finds the Service that a fault is done to. @throws ReasonError if that is not possible */
export async function findService(
    { core }: Cluster,
    namespace: string,
    { service, abort }: Pick<Fault, "service" | "abort">,
): Promise<Found<FoundService>> {
    const found = await ignoreNotFound(core.readNamespacedService({ name: service, namespace }));
    if (found === undefined)
        throw new ReasonError(
            "attack-refused",
            `there is no Service ${service} in namespace ${namespace}`,
            `Name one of: kubectl --namespace ${namespace} get services`,
        );
    const reason = whyRefused(found, abort);
    if (reason !== undefined) throw refusal(service, reason);
    const selector = found.spec!.selector!;
    const { items } = await core.listNamespacedPod({ namespace, labelSelector: selectorOf(selector) });
    const ports = found.spec!.ports!.map((port) => portOf(port, items, service));
    requireOneName(ports, service);
    const conditions = Object.entries(selector).map(([key, value]) => `k8s.label.${key}=${value}`);
    return {
        found: {
            service,
            selector,
            ports,
            ...(found.spec!.publishNotReadyAddresses && { publishNotReadyAddresses: true as const }),
            pods: items.filter(isReady).map(({ metadata }) => metadata!.name!),
        },
        conditions: conditions.join(),
        origin: `Service ${service}`,
    };
}

const refusal = (service: string, reason: string) =>
    new ReasonError(
        "attack-refused",
        `a fault cannot be done to Service ${service}: ${reason}`,
        "Change the Service, or name another one",
    );

/** Why no proxy can take a Service's place without a change that callers would notice. Undefined if one can. */
export function whyRefused({ metadata, spec }: V1Service, abort?: Fault["abort"]): string | undefined {
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

function portOf({ name = "", port, targetPort, appProtocol }: V1ServicePort, pods: V1Pod[], service: string) {
    const target = targetPort ?? port;
    const named = () =>
        pods
            .flatMap(({ spec }) => spec!.containers.flatMap(({ ports = [] }) => ports))
            .find((one) => one.name === target)?.containerPort;
    const listen = typeof target === "number" ? target : named();
    if (listen !== undefined) return { name, port, target, listen, ...(appProtocol && { appProtocol }) };
    throw refusal(service, `none of its pods has a port named ${target}`);
}

/** @throws Error if the Service knows a port of its pods by two names: its proxy can have one */
function requireOneName(ports: readonly FoundPort[], service: string): void {
    for (const { listen } of ports) {
        const same = ports.filter((port) => port.listen === listen && typeof port.target === "string");
        const names = [...new Set(same.map(({ target }) => target))];
        if (names.length > 1)
            throw refusal(
                service,
                `its target ports ${names.join(" and ")} are the same port ${listen} of its pods; allowed: one name ` +
                    "for a port",
            );
    }
}
