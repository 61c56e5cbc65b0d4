import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

type Input = k8s.types.input.networking.v1.NetworkPolicySpec;
type Labels = Record<string, string>;

/** What some pods may do. Anything else is denied. */
export interface Traffic {
    /** The pods, by labels that all of them and no others have. */
    pods: Labels;
    /** @default nothing may connect to them */
    ingress?: Input["ingress"];
    /** @default they may connect to nothing */
    egress?: Input["egress"];
}

const tcp = (port: number) => ({ protocol: "TCP", port });

/** Connections from everybody, also from outside the cluster. */
export const fromEverybody = (port: number) => ({ ports: [tcp(port)] });

/** Connections from pods of this namespace with one of some labels: at least one, since none would mean everybody. */
export const fromPods = (pods: readonly Labels[], port: number) => ({
    from: pods.map((matchLabels) => ({ podSelector: { matchLabels } })),
    ports: [tcp(port)],
});

export const toPods = (matchLabels: Labels, port: number) => ({
    to: [{ podSelector: { matchLabels } }],
    ports: [tcp(port)],
});

/**
 * Connections to a Service itself. While it has ready pods, most networks check the policies of the pod instead. While
 * it has none, kube-proxy refuses the connection. If a policy dropped it before, the caller would wait for its timeout.
 *
 * @param addresses the Service's cluster IPs
 */
export const toService = (addresses: readonly string[], port: number) => ({
    to: addresses.map((ip) => ({ ipBlock: { cidr: `${ip}/${ip.includes(":") ? 128 : 32}` } })),
    ports: [tcp(port)],
});

/**
 * DNS lookups. By port alone: DNS may be served by pods or by the node, and most networks compare the port of the pod
 * behind the Service, which is 5353 in some distributions.
 */
export const toDns = { ports: [53, 5353].flatMap((port) => ["UDP", "TCP"].map((protocol) => ({ protocol, port }))) };

/**
 * Calls to the API server, which no label selects. Most networks compare the port where it listens, not that of its
 * Service: 443 on most managed clusters, 6443 with kubeadm and k3s, 8443 on minikube, 16443 on MicroK8s.
 */
export const toApiServer = { ports: [443, 6443, 8443, 16443].map(tcp) };

export interface NetworkPoliciesArgs {
    namespace: pulumi.Input<string>;
    /** All pods, which nothing is allowed by default. */
    pods: k8s.types.input.meta.v1.LabelSelector;
    /** What is allowed, by the name of its policy. */
    allowed: Record<string, Traffic>;
    /**
     * Set while a run may have made them stop selecting its targets: then an update leaves that as it is, also one that
     * refreshes. @default false
     */
    areLent?: boolean;
}

/**
 * Denies pods all traffic but what is listed. Traffic between a pod and its node is exempt, by the specification: the
 * kubelet's probes, for example.
 *
 * An experiment's attack is a NetworkPolicy, too. Policies add up, so what one of these allows could not be denied:
 * a run makes those that allow stop selecting its targets, until it restores them.
 */
export class NetworkPolicies extends pulumi.ComponentResource {
    constructor(
        name: string,
        { namespace, pods, allowed, areLent = false }: NetworkPoliciesArgs,
        opts?: pulumi.ComponentResourceOptions,
    ) {
        super("chaos-shop:base:NetworkPolicies", name, {}, opts);
        const make = (policy: string, spec: Input, dependsOn: pulumi.Resource[] = []) =>
            new k8s.networking.v1.NetworkPolicy(
                policy,
                { metadata: { name: policy, namespace }, spec: { policyTypes: ["Ingress", "Egress"], ...spec } },
                { parent: this, dependsOn, ...(areLent && { ignoreChanges: ["spec.podSelector.matchExpressions"] }) },
            );
        const allowing = Object.entries(allowed).map(([policy, { pods: matchLabels, ...rules }]) =>
            make(policy, { podSelector: { matchLabels }, ...rules }),
        );
        // Last: pods that run already must not be cut off in between.
        make(`${name}-default-deny`, { podSelector: pods }, allowing);
        this.registerOutputs({});
    }
}
