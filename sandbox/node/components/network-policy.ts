import { addresses, nodeName } from "../addresses";
import { componentKubeconfig } from "../kubeconfig";
import type { NodeLayout } from "../layout";
import type { NodeParts } from "../node-parts";
import type { Component } from "../processes";

/** The name of the enforcer's process. */
export const networkPolicyEnforcer = "kube-router";

/** kube-router as enforcer of NetworkPolicies only: neither router nor Service proxy. */
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
        // It names its node by this where the API object does not help.
        environment: { NODE_NAME: nodeName },
    };
}
