import { deniedTrafficVariable } from "../../parts/programs";
import { locateParts } from "../../parts/locate";
import { addresses } from "../addresses";
import { perFamily } from "../choices";
import { runCommand } from "../../../toolchain/run-command";
import { componentKubeconfig } from "../kubeconfig";
import { networkNamespaceFileOf, type SandboxNode } from "../nodes";
import { hostLocalAddresses, type Network } from "./network";

/** The name of its agent on a node. */
export const enforcerOn = ({ suffix }: SandboxNode) => `kube-router${suffix}`;

/**
 * kube-router, only to enforce NetworkPolicies: neither router nor Service proxy.
 *
 * Each pod has a veth pair to the node and is routed, not bridged: the kernel then filters traffic between pods without
 * its bridge-netfilter module, which some machines lack.
 */
export const kubeRouter: Network = {
    enforcer: (node, denied) => ({
        name: enforcerOn(node),
        node,
        command: locateParts().kubeRouter,
        args: [
            `--kubeconfig=${componentKubeconfig("network-policy")}`,
            `--hostname-override=${node.name}`,
            "--run-firewall=true",
            "--run-router=false",
            "--run-service-proxy=false",
            "--run-loadbalancer=false",
            "--enable-cni=false",
            ...perFamily(addresses.services, addresses.servicesIpv6).map(
                (range) => `--service-cluster-ip-range=${range}`,
            ),
            ...perFamily("--enable-ipv4=true", "--enable-ipv6=true"),
            `--service-external-ip-range=${addresses.loadBalancerPool}`,
            "--iptables-sync-period=30s",
        ],
        environment: {
            // Its fallback for the node's name.
            NODE_NAME: node.name,
            [deniedTrafficVariable]: denied.toUpperCase(),
        },
    }),
    // The node masquerades for all pods (node-settings.ts).
    cniEntry: (node) => ({ type: "ptp", ipMasq: false, ipam: hostLocalAddresses(node) }),
    cniPrograms: () => ({}),
    coveredFolders: [],
    mountCommands: () => [],
    objects: () => [],
    rights: [],
    prepare: () => Promise.resolve(),
    /** Whether no rule for a pod does the other thing: a started kube-router replaces them within a second. */
    async isReady(node, denied) {
        const other = denied === "drop" ? "REJECT" : "DROP";
        const inside = `--net=${networkNamespaceFileOf(node)}`;
        const saved = perFamily("iptables-save", "ip6tables-save").map((save) =>
            runCommand("nsenter", [inside, save, "--table=filter"]),
        );
        return !new RegExp(`^-A KUBE-POD-FW-.* -j ${other}\\b`, "m").test((await Promise.all(saved)).join("\n"));
    },
};
