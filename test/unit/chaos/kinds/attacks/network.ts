import { BlockList, isIPv6 } from "node:net";
import type { PolicyRules } from "../../../../../chaos/policies/rules";
import type { Pod } from "../../../../../chaos/targets/containers";

type Spec = PolicyRules;

interface Selector {
    matchLabels?: Record<string, string>;
    matchExpressions?: { key: string; operator: string; values: string[] }[];
}
interface Peer {
    podSelector?: Selector;
    namespaceSelector?: Selector;
    ipBlock?: { cidr: string; except?: string[] };
}
interface Rule {
    from?: Peer[];
    to?: Peer[];
    ports?: { protocol?: string; port?: number; endPort?: number }[];
}

/** How a network reads what the NetworkPolicy specification leaves open, or what it does not implement. */
export interface Reading {
    ipBlockMatchesPods: boolean;
    endPort: boolean;
    /** Labels that it does not see. */
    ignoredLabels?: RegExp;
}

export const readings = {
    "Calico and kube-router": { ipBlockMatchesPods: true, endPort: true },
    Cilium: {
        ipBlockMatchesPods: false,
        endPort: true,
        ignoredLabels: /^(?!app\.kubernetes\.io\/).*kubernetes\.io|^pod-template-hash$|^controller-revision-hash$/,
    },
    "Cilium before 1.15, without endPort": { ipBlockMatchesPods: false, endPort: false },
} satisfies Record<string, Reading>;

/** The other end of a connection: a pod with its addresses, or an address outside of the cluster. */
export type End = Pod | string;

/**
 * Whether a NetworkPolicy with these rules lets the pod that it selects connect to another end, or accept connections
 * from it: the specification's rules, as far as attacks use them.
 */
export function permits(
    spec: Spec,
    reading: Reading,
    way: "ingress" | "egress",
    other: End,
    connection: { family?: 4 | 6; protocol?: string; port?: number } = {},
    namespace = "demo",
): boolean {
    const { family = 4, protocol = "TCP", port = 80 } = connection;
    const { policyTypes, ...rules } = spec as { policyTypes: string[]; ingress?: Rule[]; egress?: Rule[] };
    if (!policyTypes.includes(way === "ingress" ? "Ingress" : "Egress")) return true;
    return (rules[way] ?? []).some(({ from, to, ports }) => {
        const peers = way === "ingress" ? from : to;
        const isPort = ports?.some((one) => {
            if ((one.protocol ?? "TCP") !== protocol) return false;
            const last = reading.endPort ? one.endPort : undefined;
            return one.port === undefined || (port >= one.port && port <= (last ?? one.port));
        });
        return (isPort ?? true) && (peers?.some((peer) => matches(peer, reading, other, family, namespace)) ?? true);
    });
}

function matches(peer: Peer, reading: Reading, other: End, family: 4 | 6, ofPolicy: string) {
    const { podSelector, namespaceSelector, ipBlock } = peer;
    if (ipBlock) {
        const isOfFamily = (address: string) => address.includes(":") === (family === 6);
        const address = typeof other === "string" ? other : other.status!.podIPs!.map(({ ip }) => ip).find(isOfFamily)!;
        if (typeof other !== "string" && !reading.ipBlockMatchesPods) return false;
        return covers(ipBlock.cidr, address) && !ipBlock.except?.some((cidr) => covers(cidr, address));
    }
    if (typeof other === "string") return false;
    const seen = Object.entries(other.metadata!.labels ?? {}).filter(([key]) => !reading.ignoredLabels?.test(key));
    const namespace = { "kubernetes.io/metadata.name": other.metadata!.namespace! };
    const isNamespace = namespaceSelector
        ? selects(namespaceSelector, namespace)
        : other.metadata!.namespace === ofPolicy;
    return isNamespace && selects(podSelector, Object.fromEntries(seen));
}

/** Whether a block has an address. */
function covers(cidr: string, address: string): boolean {
    const [network, prefix] = cidr.split("/");
    if (isIPv6(network!) !== isIPv6(address)) return false;
    const blocks = new BlockList();
    const family = isIPv6(address) ? "ipv6" : "ipv4";
    blocks.addSubnet(network!, Number(prefix), family);
    return blocks.check(address, family);
}

const selects = ({ matchLabels = {}, matchExpressions = [] }: Selector = {}, labels: Record<string, string>) =>
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values }) => {
        if (operator !== "NotIn") throw new Error(`the operator ${operator} is not implemented here`);
        return !values.includes(labels[key] ?? "");
    });
