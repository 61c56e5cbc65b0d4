/**
 * The addresses of the sandbox, all private to this machine: 198.18.0.0/15 is reserved for benchmarks (RFC 2544) and
 * never routed. One veth pair connects the host with a network namespace that has no default route.
 */
export const addresses = {
    /** The network namespace, and the prefix of all other names on the host. */
    networkNamespace: "chaos-shop",
    /** The veth pair: the host's end, shown by `ip link`, and the node's end in the namespace. */
    hostInterface: "chaos-shop0",
    nodeInterface: "eth0",
    host: "198.18.0.1",
    /** The node's address of IPv6, where pods have both families. The host needs none. */
    nodeIpv6: "fd00:c4a0:5::2",
    node: "198.18.0.2",
    linkPrefix: 30,
    linkToHost: "198.18.0.0/30",
    /** The veth pair between the first node and the second one, where there are two. */
    interfaceToSecond: "node-2",
    firstOnLinkToSecond: "198.18.0.5",
    secondNode: "198.18.0.6",
    linkToSecond: "198.18.0.4/30",
    firstOnLinkToSecondIpv6: "fd00:c4a0:5:1::1",
    secondNodeIpv6: "fd00:c4a0:5:1::2",
    linkPrefixIpv6: 64,
    linkOfFirstIpv6: "fd00:c4a0:5::/64",
    /** Each Service of type LoadBalancer gets an address of this range. */
    loadBalancerPool: "198.18.1.0/24",
    /** Of the pods of all nodes. */
    podRange: "10.244.0.0/23",
    podRangeIpv6: "fd00:10:244::/63",
    services: "10.96.0.0/16",
    /** In fd00::/8, like all of these: kube-router reads an ipBlock of `::/0` as 2000::/3 and fd00::/8. */
    servicesIpv6: "fd00:10:96::/112",
    /** The Service `kubernetes`: the first address of the Service range. */
    apiService: "10.96.0.1",
    clusterDns: "10.96.0.10",
    clusterDnsIpv6: "fd00:10:96::a",
    clusterDomain: "cluster.local",
    apiPort: 6443,
} as const;

/** The value of `NO_PROXY` with which the sandbox is asked directly: no proxy reaches it. */
export function noProxy({ NO_PROXY, no_proxy }: NodeJS.ProcessEnv = process.env): string {
    const listed = (NO_PROXY || no_proxy || "").split(",").filter((entry) => entry !== "");
    return [...new Set([...listed, "198.18.0.0/15"])].join(",");
}

export const sandboxContext = "chaos-shop-sandbox";

/** The node's name in `kubectl get nodes`. */
export const nodeName = "chaos-shop-sandbox";

/** The Kubernetes API, from the host and from pods. */
export const apiServerUrl = `https://${addresses.node}:${addresses.apiPort}`;
