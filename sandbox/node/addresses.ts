/**
 * The addresses of the sandbox. All of them are private to this machine: 198.18.0.0/15 is set aside for benchmark
 * networks (RFC 2544) and is never routed, and what carries them is one veth pair between the host and a network
 * namespace that has no default route.
 */
export const addresses = {
    /** The network namespace, and the prefix of everything that the sandbox creates by name on the host. */
    networkNamespace: "chaos-shop",
    /** The veth pair: the host's end, seen by `ip link`, and the node's end inside the namespace. */
    hostInterface: "chaos-shop0",
    nodeInterface: "eth0",
    host: "198.18.0.1",
    node: "198.18.0.2",
    linkPrefix: 30,
    /** Every Service of type LoadBalancer gets an address of its own out of this range. */
    loadBalancerPool: "198.18.1.0/24",
    pods: "10.244.0.0/24",
    services: "10.96.0.0/16",
    /** The `kubernetes` Service: the first address of the Service range. */
    apiService: "10.96.0.1",
    clusterDns: "10.96.0.10",
    clusterDomain: "cluster.local",
    apiPort: 6443,
} as const;

/** The name of the one node, as `kubectl get nodes` shows it. */
export const nodeName = "chaos-shop-sandbox";

/** The address of the Kubernetes API, from the host and from inside. */
export const apiServerUrl = `https://${addresses.node}:${addresses.apiPort}`;
