import { BlockList, isIPv6 } from "node:net";
import type { V1NetworkPolicyPeer, V1NetworkPolicyPort } from "@kubernetes/client-node";
import { addressesOf, allPortsBut, blockOf, everyoneBut, lastPort, namespacesOf, type Peers } from "./allow-rules";
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

/** A policy that allows everything but what an attack denies. A NetworkPolicy can only allow. */
export function denying(denial: Denial, peers: Peers, namespace: string): PolicyRules {
    const rules = subtract({}, denial, peers, namespace);
    return policyRules(Object.fromEntries(denial.ways.map((way) => [way, rules])));
}

/**
 * What a rule allows of what an attack leaves.
 *
 * @param namespace of the policy
 * @throws Error if that cannot be written as rules; completes "a policy with …"
 */
export function subtract(rule: Rule, { ports, withPeers }: Denial, peers: Peers, namespace: string): Rule[] {
    const others = withPeers ? [{ ...rule, peers: peersBut(rule.peers, peers, namespace) }] : [];
    const otherPorts = ports ? [{ ...rule, ports: portsBut(rule.ports, ports) }] : [];
    return [...others, ...otherPorts].filter((left) => left.peers?.length !== 0 && left.ports?.length !== 0);
}

function portsBut(allowed: readonly V1NetworkPolicyPort[] = [], denied: readonly number[]): V1NetworkPolicyPort[] {
    if (allowed.length === 0) return allPortsBut(denied);
    return allowed.flatMap((one) => {
        const { protocol = "TCP", port, endPort } = one;
        if (protocol === "SCTP") return [one];
        if (typeof port === "string")
            throw new Error(`the named port ${port}, which may be one that the attack blocks`);
        const [first, last] = port === undefined ? [1, lastPort] : [Number(port), endPort ?? Number(port)];
        return allPortsBut(denied)
            .filter((range) => range.protocol === protocol)
            .map((range) => [Math.max(first, range.port!), Math.min(last, range.endPort!)] as const)
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

export function isIn(cidr: string, address: string): boolean {
    const [network, prefix] = cidr.split("/");
    // A BlockList finds IPv4 addresses in `::/0`, as mapped ones. A NetworkPolicy does not.
    if (isIPv6(network!) !== isIPv6(address)) return false;
    const blocks = new BlockList();
    blocks.addSubnet(network!, Number(prefix), isIPv6(network!) ? "ipv6" : "ipv4");
    return blocks.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}
