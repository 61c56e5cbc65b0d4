/** The traffic that attacks deny. A NetworkPolicy can only allow: these rules allow everything else. */
import type { V1IPBlock, V1NetworkPolicyPeer, V1NetworkPolicyPort } from "@kubernetes/client-node";
import { BlockList, isIPv6 } from "node:net";
import type { Chosen } from "../targets/choose";
import type { Target } from "../targets/containers";
import type { DistinctiveLabel } from "../targets/distinguish";
import { type PolicyRules, policyRules, type Rule, type Way } from "./rules";
import { also } from "./selector";

export interface Denial {
    ways: readonly Way[];
    /** TCP and UDP ports: the targets' own for ingress, other pods' for egress. @default all */
    ports?: readonly number[];
    /** Only traffic with the pods that the attack's `peers` describe. @default false */
    withPeers?: boolean;
}

export const isTotal = ({ ways, ports, withPeers = false }: Denial): boolean =>
    ways.length === 2 && ports === undefined && !withPeers;

/** The pods that an attack's `peers` describe. */
export interface Peers {
    pods: readonly Pick<Target, "namespace" | "address" | "addresses">[];
    /** Tells them from all other pods of their namespaces. Absent if there is none. */
    label?: DistinctiveLabel;
}

export const peersIn = ({ peers = [], peersLabel: label }: Pick<Chosen, "peers" | "peersLabel">): Peers => ({
    pods: peers,
    label,
});

/** A policy that allows everything but what an attack denies. */
export function denying(denial: Denial, peers: Peers, namespace: string): PolicyRules {
    const rules = subtract({}, denial, peers, namespace);
    return policyRules(Object.fromEntries(denial.ways.map((way) => [way, rules])));
}

/**
 * What a rule allows of what an attack leaves.
 *
 * @throws Error if that cannot be written as rules; completes "a policy with …"
 */
export function subtract(rule: Rule, { ports, withPeers }: Denial, peers: Peers, namespace: string): Rule[] {
    const others = withPeers ? [{ ...rule, peers: peersBut(rule.peers, peers, namespace) }] : [];
    const otherPorts = ports ? [{ ...rule, ports: portsBut(rule.ports, ports) }] : [];
    return [...others, ...otherPorts].filter((left) => left.peers?.length !== 0 && left.ports?.length !== 0);
}

const lastPort = 65_535;
const everyPort: V1NetworkPolicyPort[] = ["TCP", "UDP", "SCTP"].map((protocol) => ({ protocol }));

function portsBut(allowed: readonly V1NetworkPolicyPort[] = [], denied: readonly number[]): V1NetworkPolicyPort[] {
    const sorted = [0, ...denied, lastPort + 1].sort((a, b) => a - b);
    const gaps = sorted.slice(1).map((next, index) => [sorted[index]! + 1, next - 1] as const);
    return (allowed.length === 0 ? everyPort : allowed).flatMap((one) => {
        const { protocol = "TCP", port, endPort } = one;
        if (protocol === "SCTP") return [one];
        if (typeof port === "string")
            throw new Error(`the named port ${port}, which may be one that the attack blocks`);
        const [first, last] = port === undefined ? [1, lastPort] : [Number(port), endPort ?? Number(port)];
        return gaps
            .map(([from, to]) => [Math.max(first, from), Math.min(last, to)] as const)
            .filter(([from, to]) => from <= to)
            .map(([from, to]) => ({ protocol, port: from, ...(to > from && { endPort: to }) }));
    });
}

function peersBut(
    allowed: readonly V1NetworkPolicyPeer[] = [],
    denied: Peers,
    namespace: string,
): V1NetworkPolicyPeer[] {
    if (allowed.length === 0) return everyoneBut(denied);
    return allowed.flatMap((peer) => {
        if (peer.ipBlock) {
            const block = peer.ipBlock;
            const among = addressesOf(denied.pods).filter((address) => isIn(block.cidr, address));
            if (among.length === 0) return [peer];
            // The API server wants exceptions that are smaller than the block.
            if (isOneAddress(block.cidr)) return [];
            return [{ ipBlock: { ...block, except: [...(block.except ?? []), ...among.map(blockOf)] } }];
        }
        const namespaces = namespacesOf(denied.pods);
        const isElsewhere = peer.namespaceSelector === undefined && !namespaces.includes(namespace);
        if (isElsewhere) return [peer];
        if (!denied.label)
            throw new Error(
                "peers by label, while no label tells the attack's peers from all other pods of their namespaces",
            );
        const { key, values } = denied.label;
        const others = { ...peer, podSelector: also(peer.podSelector ?? {}, { key, operator: "NotIn", values }) };
        if (peer.namespaceSelector === undefined) return [others];
        const elsewhere = { key: "kubernetes.io/metadata.name", operator: "NotIn", values: namespaces };
        return [others, { ...peer, namespaceSelector: also(peer.namespaceSelector, elsewhere) }];
    });
}

const isOneAddress = (cidr: string) => cidr.endsWith(isIPv6(cidr.split("/")[0]!) ? "/128" : "/32");

function isIn(cidr: string, address: string): boolean {
    const [network, prefix] = cidr.split("/");
    // A BlockList finds IPv4 addresses in `::/0`, as mapped ones. A NetworkPolicy does not.
    if (isIPv6(network!) !== isIPv6(address)) return false;
    const blocks = new BlockList();
    blocks.addSubnet(network!, Number(prefix), isIPv6(network!) ? "ipv6" : "ipv4");
    return blocks.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

export const isInBlock = ({ cidr, except = [] }: V1IPBlock, address: string) =>
    isIn(cidr, address) && !except.some((one) => isIn(one, address));

/**
 * Allows everybody but some pods. Networks read `ipBlock` in two ways, and this must be right for both:
 *
 * - Calico and kube-router compare it with every address, so the pods' addresses are excepted, in both families.
 * - Cilium never applies it to a pod, nor by default to a node (cilium#9209, #35212), so all other pods are allowed by
 *   selectors: those of other namespaces, and those without the pods' label. Without such a label, the pods' neighbors
 *   are cut off there, too, which the positive control may notice.
 */
function everyoneBut({ pods, label }: Peers): V1NetworkPolicyPeer[] {
    const namespaces = namespacesOf(pods);
    const addresses = addressesOf(pods);
    const except = (some: string[]) => (some.length > 0 ? { except: some.map(blockOf) } : {});
    return [
        { namespaceSelector: notIn("kubernetes.io/metadata.name", namespaces) },
        ...(label ? [{ namespaceSelector: {}, podSelector: notIn(label.key, label.values) }] : []),
        { ipBlock: { cidr: "0.0.0.0/0", ...except(addresses.filter((address) => !isIPv6(address))) } },
        { ipBlock: { cidr: "::/0", ...except(addresses.filter((address) => isIPv6(address))) } },
    ];
}

const blockOf = (address: string) => `${address}/${isIPv6(address) ? 128 : 32}`;

const addressesOf = (pods: Peers["pods"]): string[] =>
    distinct(pods.flatMap(({ address, addresses }) => addresses ?? [address]));

const namespacesOf = (pods: Peers["pods"]): string[] => distinct(pods.map(({ namespace }) => namespace));

const notIn = (key: string, values: string[]) => ({ matchExpressions: [{ key, operator: "NotIn", values }] });

const distinct = (values: string[]) => [...new Set(values)].sort();
