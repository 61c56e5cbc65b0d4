import { addresses, nodeName } from "../addresses";
import { componentKubeconfig } from "../kubeconfig";
import type { NodeLayout } from "../layout";
import type { NodeParts } from "../node-parts";
import type { Component } from "../processes";

/** The component that enforces NetworkPolicies. */
export const networkPolicyEnforcer = "kube-router";

/** kube-router, only to enforce NetworkPolicies: neither router nor Service proxy. */
export function networkPolicy(layout: NodeLayout, parts: NodeParts): Component {
    return {
        name: networkPolicyEnforcer,
        command: parts.kubeRouter,
        args: [
            `--kubeconfig=${componentKubeconfig(layout, "network-policy")}`,
            `--hostname-override=${nodeName}`,
            "--run-firewall=true",
            "--run-router=false",
            "--run-service-proxy=false",
            "--run-loadbalancer=false",
            "--enable-cni=false",
            `--service-cluster-ip-range=${addresses.services}`,
            `--service-external-ip-range=${addresses.loadBalancerPool}`,
            "--iptables-sync-period=30s",
        ],
        // Its fallback for the node's name.
        environment: { NODE_NAME: nodeName },
    };
}
