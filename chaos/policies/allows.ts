/**
 * Decides what a rule of a NetworkPolicy allows, and which pods a policy isolates. See
 * https://kubernetes.io/docs/reference/kubernetes-api/policy-resources/network-policy-v1/
 */
import type { V1NetworkPolicy } from "../values/kubernetes-types";
import { type Pod, portNumberIn } from "../values/kubernetes-rules";
import { isInBlock } from "./blocks";
import { isolates, type Protocol, protocolOf, type Rule, type Way } from "./rules";
import { type Labels, selects } from "./selector";

/** Traffic of a pod that a policy selects. */
export interface Traffic extends PortOf {
    /** Who else takes part. @default anybody: rules for some peers allow it, too */
    peer?: Peer;
}

/** A port, as far as it is known. */
export interface PortOf {
    /** @default any */
    port?: number;
    /** @default TCP */
    protocol?: Protocol;
    /** The pod that has the port. A rule may name it by a name of that pod. @default a name may be that of any port */
    portOf?: Pick<Pod, "spec">;
}

/** A pod or an address, as rules describe it. */
export interface Peer {
    /** @default it is no pod */
    labels?: Labels;
    /** Of its namespace. */
    namespace?: Labels;
    /** Whether that is another namespace than the policy's. @default false */
    isElsewhere?: boolean;
    /** @default none: it is described by its labels only */
    addresses?: readonly string[];
}

export const allows = (rule: Rule, { peer, ...port }: Traffic): boolean =>
    allowsPort(rule, port) && (peer === undefined || allowsPeer(rule, peer));

/** Without ports, a rule allows all of every protocol; `endPort` makes a range. */
export const allowsPort = ({ ports = [] }: Rule, { port, protocol = "TCP", portOf }: PortOf): boolean =>
    ports.length === 0 ||
    ports.some((allowed) => {
        if (protocolOf(allowed) !== protocol) return false;
        if (allowed.port === undefined || port === undefined) return true;
        const isKnown = typeof allowed.port === "number" || (portOf !== undefined && protocol === "TCP");
        if (!isKnown) return true;
        const first = portNumberIn(portOf ?? {}, allowed.port);
        return first !== undefined && first <= port && port <= (allowed.endPort ?? first);
    });

/** Without peers, a rule allows everybody. */
export const allowsPeer = (
    { peers = [] }: Rule,
    { labels, namespace = {}, isElsewhere = false, addresses = [] }: Peer,
): boolean =>
    peers.length === 0 ||
    peers.some(({ podSelector, namespaceSelector, ipBlock }) => {
        if (ipBlock) return addresses.some((address) => isInBlock(ipBlock, address));
        const isThere = namespaceSelector ? selects(namespaceSelector, namespace) : !isElsewhere;
        return labels !== undefined && isThere && selects(podSelector, labels);
    });

/** Whether a policy denies a pod what no policy allows it. Policies do not apply to pods on the host's network. */
export const isolatesPod = ({ spec }: V1NetworkPolicy, { metadata, spec: of }: Pod, way: Way): boolean =>
    !of?.hostNetwork && isolates(spec!, way) && selects(spec!.podSelector, metadata?.labels ?? {});
