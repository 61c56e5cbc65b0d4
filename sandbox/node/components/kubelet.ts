import { join } from "node:path";
import { addresses } from "../addresses";
import { podCgroupRoot } from "../cgroups";
import { perFamily } from "../choices";
import { componentKubeconfig } from "../kubeconfig";
import { layout, writeFileAtomically } from "../layout";
import type { SandboxNode } from "../nodes";
import { locateParts } from "../../parts/locate";
import { pki } from "../pki";
import type { Component } from "../processes";

/** Where a node says that it is, as the nodes of clouds do; its zone is its own. */
const region = "sandbox";

export function kubelet(node: SandboxNode): Component {
    return {
        name: `kubelet${node.suffix}`,
        node,
        command: locateParts().kube,
        args: [
            "kubelet",
            `--config=${configPath(node)}`,
            `--kubeconfig=${componentKubeconfig(node.identity)}`,
            `--hostname-override=${node.name}`,
            `--node-ip=${perFamily(node.address, node.addressIpv6).join(",")}`,
            `--node-labels=topology.kubernetes.io/region=${region},topology.kubernetes.io/zone=${node.zone}`,
            `--root-dir=${node.folders.kubelet}`,
        ],
    };
}

const configPath = ({ folders }: SandboxNode) => join(folders.config, "kubelet.json");

export function configureKubelet(node: SandboxNode): void {
    const resolvConf = join(layout.config, "resolv.conf");
    writeFileAtomically(resolvConf, "# nothing outside the cluster is to be found from inside it\n", 0o644);
    writeFileAtomically(configPath(node), JSON.stringify(kubeletConfig(node, resolvConf), undefined, 2));
}

function kubeletConfig(node: SandboxNode, resolvConf: string) {
    return {
        apiVersion: "kubelet.config.k8s.io/v1beta1",
        kind: "KubeletConfiguration",
        // Some machines still have cgroup v1, which Kubernetes 1.34 rejects by default.
        failCgroupV1: false,
        cgroupDriver: "cgroupfs",
        cgroupRoot: podCgroupRoot(node),
        containerRuntimeEndpoint: `unix://${node.folders.containerdSocket}`,
        clusterDNS: [addresses.clusterDns],
        clusterDomain: addresses.clusterDomain,
        resolvConf,
        address: node.address,
        tlsCertFile: pki.certificate(node.identity),
        tlsPrivateKeyFile: pki.key(node.identity),
        authentication: {
            anonymous: { enabled: false },
            webhook: { enabled: true },
            x509: { clientCAFile: pki.clusterAuthority },
        },
        authorization: { mode: "Webhook" },
        podLogsDir: node.folders.podLogs,
        volumePluginDir: join(node.folders.kubelet, "volume-plugins"),
        failSwapOn: false,
        oomScoreAdj: 0,
        // Images come from archives: one that is collected could not be pulled again.
        imageGCHighThresholdPercent: 100,
        imageGCLowThresholdPercent: 99,
        // Developers' disks are often nearly full; pods are evicted only when one is full.
        evictionHard: {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "nodefs.inodesFree": "1%",
            "imagefs.available": "1%",
        },
        // A demo repairs the cause of a crash within seconds; the pod should be back soon after.
        crashLoopBackOff: { maxContainerRestartPeriod: "30s" },
        featureGates: { KubeletCrashLoopBackOffMax: true },
    };
}
