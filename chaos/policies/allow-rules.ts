/** A NetworkPolicy can only allow. These rules allow everything but some ports, or everybody but some pods. */
import type { V1NetworkPolicyPeer } from "@kubernetes/client-node";
import { isIPv6 } from "node:net";
import type { Chosen } from "../targets/choose";
import type { DistinctiveLabel } from "../targets/distinguish";
import type { Target } from "../targets/containers";

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

export const lastPort = 65_535;

/** Allows every port of every protocol except some TCP and UDP ports. */
export function allPortsBut(ports: readonly number[]): { protocol: string; port?: number; endPort?: number }[] {
    const ranges: { port: number; endPort: number }[] = [];
    let next = 1;
    for (const port of [...new Set(ports)].sort((a, b) => a - b)) {
        if (port > next) ranges.push({ port: next, endPort: port - 1 });
        next = port + 1;
    }
    if (next <= lastPort) ranges.push({ port: next, endPort: lastPort });
    return [
        ...["TCP", "UDP"].flatMap((protocol) => ranges.map((range) => ({ protocol, ...range }))),
        { protocol: "SCTP" },
    ];
}

/**
 * Allows everybody but some pods. Networks read `ipBlock` in two ways, and this must be right for both:
 *
 * - Calico and kube-router compare it with every address, so the pods' addresses are excepted, in both families.
 * - Cilium never applies it to a pod, nor by default to a node (cilium#9209, #35212), so all other pods are allowed by
 *   selectors: those of other namespaces, and those without the pods' label. Without such a label, the pods' neighbors
 *   are cut off there, too, which the positive control may notice.
 */
export function everyoneBut({ pods, label }: Peers): V1NetworkPolicyPeer[] {
    const namespaces = namespacesOf(pods);
    const addresses = addressesOf(pods);
    const except = (some: string[]) => (some.length > 0 ? { except: some.map(blockOf) } : {});
    return [
        { namespaceSelector: notIn("kubernetes.io/metadata.name", namespaces) },
        ...(label ? [{ namespaceSelector: {}, podSelector: notIn(label.key, label.values) }] : []),
        {
            ipBlock: {
                cidr: "0.0.0.0/0",
                ...except(addresses.filter((address) => !isIPv6(address))),
            },
        },
        { ipBlock: { cidr: "::/0", ...except(addresses.filter((address) => isIPv6(address))) } },
    ];
}

export const blockOf = (address: string) => `${address}/${isIPv6(address) ? 128 : 32}`;

export const addressesOf = (pods: Peers["pods"]): string[] =>
    distinct(pods.flatMap(({ address, addresses }) => addresses ?? [address]));

export const namespacesOf = (pods: Peers["pods"]): string[] => distinct(pods.map(({ namespace }) => namespace));

const notIn = (key: string, values: string[]) => ({ matchExpressions: [{ key, operator: "NotIn", values }] });

const distinct = (values: string[]) => [...new Set(values)].sort();
