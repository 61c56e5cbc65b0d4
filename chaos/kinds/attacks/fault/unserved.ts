/** Whether a proxy can stand in a Service's place, for the run and for the deadline Job, which has no client. */
import type { V1Service, V1ServicePort } from "../../../values/kubernetes-types";
import { targetPortOf } from "../../../values/kubernetes-rules";
import { isPointing } from "./pointing";
import { type Fault, statusOf } from "./proxy/protocol";
import { describeStatus } from "./words";

/** Why no proxy can take a Service's place without a change that callers would notice. */
export function whyRefused(
    { metadata, spec }: V1Service,
    { abort, match }: Pick<Fault, "abort" | "match"> = {},
): string | undefined {
    if (isPointing({ metadata, spec }))
        return "another fault has taken its place; wait until that has ended, or disable it";
    return whyWrittenBack({ metadata, spec }) ?? whyUnserved({ spec }, { abort, match });
}

/**
 * Why a controller would take a Service back from a proxy: it sets the selector itself.
 * https://argo-rollouts.readthedocs.io/en/stable/FAQ/, https://docs.flagger.app/usage/how-it-works
 */
function whyWrittenBack({ metadata, spec }: V1Service): string | undefined {
    const managed = "argo-rollouts.argoproj.io/managed-by-rollouts";
    const hash = "rollouts-pod-template-hash";
    const canary = metadata?.ownerReferences?.find(
        ({ apiVersion, kind }) => kind === "Canary" && apiVersion.startsWith("flagger.app/"),
    );
    const [mark] = [
        metadata?.annotations?.[managed] && `its annotation ${managed} shows that Argo Rollouts`,
        spec!.selector?.[hash] && `the key ${hash} in its selector shows that Argo Rollouts`,
        canary && `its owner Canary ${canary.name} shows that Flagger`,
    ].filter(Boolean);
    return (
        mark &&
        `${mark} sets its selector, and would write that back: callers would not reach the proxy. Use a blackhole ` +
            "of its pods instead"
    );
}

/** Why a proxy in a Service's place would not serve all of its callers. */
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
    const opaque = ports.find((port) => isNotHttp(port));
    return opaque && whyUnread({ abort, match }, `its port ${opaque.port} says ${opaque.appProtocol ?? opaque.name}`);
}

/**
 * Why a fault cannot be done to what is not HTTP in clear text, and what can. Undefined if it can.
 *
 * @param sign of it, such as "its port 443 says https"
 */
export function whyUnread({ abort, match }: Pick<Fault, "abort" | "match">, sign: string): string | undefined {
    if (match !== undefined)
        return (
            `match reads requests in HTTP in clear text, and ${sign}; allowed: no match, which hits whole ` +
            "connections"
        );
    const status = describeStatus(abort);
    if (status === undefined) return undefined;
    const protocol = statusOf(abort) === undefined ? "gRPC" : "HTTP";
    return (
        `abort with ${status} answers ${protocol} in clear text, and ${sign}; allowed: "reset" or "hang", which hit ` +
        "whole connections"
    );
}

/**
 * What somebody has changed of a Service so that the proxy in its place does not serve all of its callers any more.
 * @param ports as the run found them
 */
export function whyNoLongerServed(
    { spec }: V1Service,
    ports: readonly { name: string; port: number; target: number | string }[],
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
    const now = described(
        spec!.ports!.map((one) => ({ name: one.name ?? "", port: one.port, target: targetPortOf(one) })),
    );
    const then = described(ports);
    return now === then ? undefined : `${changed}: its ports are ${now}; they were ${then} when the run began`;
}

/**
 * Whether the name of a port stands for TLS or the protocol of a database. `tcp` does not, since HTTP is TCP, too.
 * https://kubernetes.io/docs/concepts/services-networking/service,
 * https://istio.io/latest/docs/ops/configuration/traffic-management/protocol-selection
 */
const isNotHttp = ({ name = "", appProtocol }: V1ServicePort) =>
    appProtocol === undefined
        ? /^(https|tls|mongo|mysql|redis)(-|$)/.test(name)
        : /^(kubernetes\.io\/wss|https|tls|mongo|mysql|redis)$/i.test(appProtocol);
