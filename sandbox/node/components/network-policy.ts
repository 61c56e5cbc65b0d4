import { readFileSync } from "node:fs";
import { deniedTrafficVariable } from "../../parts/programs";
import { addresses, nodeName } from "../addresses";
import { runCommand } from "../command";
import { componentKubeconfig } from "../kubeconfig";
import { layout, writeFileAtomically } from "../layout";
import { networkNamespaceFile } from "../network";
import { locateParts } from "../../parts/locate";
import type { Component } from "../processes";

export const networkPolicyEnforcer = "kube-router";

/**
 * What the network does with traffic that a NetworkPolicy denies: `drop` it, so that a connection times out, as with
 * Calico and Cilium; or `reject` it, so that a connection is refused.
 */
export const deniedTrafficChoices = ["drop", "reject"] as const;
export type DeniedTraffic = (typeof deniedTrafficChoices)[number];

/** What is chosen for this node. @default drop */
export function deniedTraffic(): DeniedTraffic {
    try {
        return readFileSync(layout.deniedTraffic, "utf8").trim() as DeniedTraffic;
    } catch {
        return "drop";
    }
}

/** Chooses for the next start of the enforcer. */
export function chooseDeniedTraffic(choice: DeniedTraffic): void {
    writeFileAtomically(layout.deniedTraffic, `${choice}\n`);
}

/** Whether no rule for a pod is left that does the other thing: a started kube-router replaces them within a second. */
export async function enforcesChoice(): Promise<boolean> {
    const other = deniedTraffic() === "drop" ? "REJECT" : "DROP";
    const rules = await runCommand("nsenter", [`--net=${networkNamespaceFile}`, "iptables-save", "--table=filter"]);
    return !new RegExp(`^-A KUBE-POD-FW-.* -j ${other}\\b`, "m").test(rules);
}

/** kube-router, only to enforce NetworkPolicies: neither router nor Service proxy. */
export function networkPolicy(): Component {
    return {
        name: networkPolicyEnforcer,
        command: locateParts().kubeRouter,
        args: [
            `--kubeconfig=${componentKubeconfig("network-policy")}`,
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
        environment: {
            // Its fallback for the node's name.
            NODE_NAME: nodeName,
            [deniedTrafficVariable]: deniedTraffic().toUpperCase(),
        },
    };
}
