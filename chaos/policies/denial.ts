/** The traffic that attacks deny. A NetworkPolicy can only allow: these rules allow everything else. */
import type { V1IPBlock, V1NetworkPolicyPeer, V1NetworkPolicyPort } from "../values/kubernetes-types";
import { groupedBy } from "../values/grouped";
import type { Chosen } from "../targets/choose";
import { addressesOfTarget, type Target } from "../targets/containers";
import type { DistinctiveLabel } from "../targets/distinguish";
import { blockOf, common, everyBlock, without } from "./blocks";
import {
    type PolicyRules,
    policyRules,
    type Protocol,
    protocolOf,
    protocols,
    type Rule,
    type Way,
    ways,
} from "./rules";
import { also } from "./selector";

export interface Denial {
    ways: readonly Way[];
    /** Ports of `protocols`: the targets' own for ingress, other pods' for egress. @default all */
    ports?: readonly number[];
    /** Of `ports`, and of those of `blocks`. @default TCP and UDP */
    protocols?: readonly Protocol[];
    /** Only traffic with the attack's `peers`. @default false */
    withPeers?: boolean;
    /** The peers are these addresses and those of `Peers`, and no pods. @default they are pods */
    blocks?: readonly DeniedBlock[];
}

export interface DeniedBlock extends V1IPBlock {
    /** @default all */
    ports?: readonly number[];
}

/** Whether nothing is left of one direction. */
export const isAllDenied = ({ ways, ports, withPeers = false, blocks }: Denial, way: Way): boolean =>
    ways.includes(way) && ports === undefined && !withPeers && blocks === undefined;

export const isTotal = (denial: Denial): boolean => ways.every((way) => isAllDenied(denial, way));

/** The pods that an attack's `peers` describe, or the addresses that its hosts have. */
export interface Peers {
    pods: readonly Pick<Target, "namespace" | "address" | "addresses">[];
    /** @default none */
    blocks?: readonly DeniedBlock[];
    /** Tells them from all other pods of their namespaces. Absent if there is none. */
    label?: DistinctiveLabel;
}

export const peersIn = ({
    peers = [],
    peersLabel: label,
    hosts = [],
}: Pick<Chosen, "peers" | "peersLabel" | "hosts">): Peers => ({
    pods: peers,
    label,
    blocks: hosts.flatMap(({ port, allPorts, addresses }) =>
        addresses.map((one) => ({ cidr: blockOf(one), ...(!allPorts && { ports: [port] }) })),
    ),
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
export function subtract(rule: Rule, denial: Denial, peers: Peers, namespace: string): Rule[] {
    const { ports, withPeers, blocks, protocols: of = ["TCP", "UDP"] } = denial;
    const portsWithout = (denied: readonly number[]) => portsBut(rule.ports, denied, of);
    if (blocks) return subtractBlocks(rule, [...blocks, ...(peers.blocks ?? [])], portsWithout);
    const others = withPeers ? [{ ...rule, peers: peersBut(rule.peers, peers, namespace) }] : [];
    const otherPorts = ports ? [{ ...rule, ports: portsWithout(ports) }] : [];
    return [...others, ...otherPorts].filter((left) => left.peers?.length !== 0 && left.ports?.length !== 0);
}

/**
 * Takes blocks from a rule, which goes on to allow all pods: networks differ in whether a block contains them (see
 * `everyoneBut`), and an attack names pods by attributes.
 */
function subtractBlocks(rule: Rule, denied: readonly DeniedBlock[], portsWithout: PortsWithout): Rule[] {
    return [...groupedBy(denied, ({ ports }) => JSON.stringify(ports)).values()].reduce<Rule[]>(
        (rules, blocks) => rules.flatMap((one) => withoutBlocks(one, blocks, portsWithout)),
        [{ ...rule, peers: rule.peers?.length ? rule.peers : everyone }],
    );
}

/** What a rule allows at all ports but some. */
type PortsWithout = (denied: readonly number[]) => V1NetworkPolicyPort[];

/** @param blocks of which the same ports are denied */
function withoutBlocks(rule: Rule, blocks: readonly DeniedBlock[], portsWithout: PortsWithout): Rule[] {
    const { ports } = blocks[0]!;
    const mapped = (change: (block: V1IPBlock) => V1IPBlock[]) =>
        rule.peers!.flatMap((peer) => (peer.ipBlock ? change(peer.ipBlock).map((ipBlock) => ({ ipBlock })) : []));
    const pods = rule.peers!.filter(({ ipBlock }) => ipBlock === undefined);
    const others = { ...rule, peers: [...pods, ...mapped((block) => without([block], blocks))] };
    const within = ports ? mapped((block) => blocks.flatMap((one) => common(block, one))) : [];
    const otherPorts = within.length > 0 ? [{ peers: within, ports: portsWithout(ports!) }] : [];
    return [others, ...otherPorts].filter((left) => left.peers.length > 0 && left.ports?.length !== 0);
}

const everyone: readonly V1NetworkPolicyPeer[] = [
    { namespaceSelector: {} },
    ...everyBlock.map((ipBlock) => ({ ipBlock })),
];

const lastPort = 65_535;
const everyPort: V1NetworkPolicyPort[] = protocols.map((protocol) => ({ protocol }));

function portsBut(
    allowed: readonly V1NetworkPolicyPort[] = [],
    denied: readonly number[],
    of: readonly Protocol[],
): V1NetworkPolicyPort[] {
    const sorted = [0, ...denied, lastPort + 1].sort((a, b) => a - b);
    const gaps = sorted.slice(1).map((next, index) => [sorted[index]! + 1, next - 1] as const);
    return (allowed.length === 0 ? everyPort : allowed).flatMap((one) => {
        const { port, endPort } = one;
        const protocol = protocolOf(one);
        if (!of.includes(protocol)) return [one];
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
        if (peer.ipBlock) return without([peer.ipBlock], blocksOf(denied.pods)).map((ipBlock) => ({ ipBlock }));
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
    return [
        { namespaceSelector: notIn("kubernetes.io/metadata.name", namespaces) },
        ...(label ? [{ namespaceSelector: {}, podSelector: notIn(label.key, label.values) }] : []),
        ...without(everyBlock, blocksOf(pods)).map((ipBlock) => ({ ipBlock })),
    ];
}

const blocksOf = (pods: Peers["pods"]): V1IPBlock[] =>
    distinct(pods.flatMap(addressesOfTarget)).map((one) => ({ cidr: blockOf(one) }));

const namespacesOf = (pods: Peers["pods"]): string[] => distinct(pods.map(({ namespace }) => namespace));

const notIn = (key: string, values: string[]) => ({ matchExpressions: [{ key, operator: "NotIn", values }] });

const distinct = (values: string[]) => [...new Set(values)].sort();
