import { join } from "node:path";
import { addresses, nodeName } from "../addresses";
import { podCgroupRoot } from "../cgroups";
import { componentKubeconfig } from "../kubeconfig";
import { type NodeLayout, writeFileAtomically } from "../layout";
import type { NodeParts } from "../node-parts";
import { pkiFiles } from "../pki";
import type { Component } from "../processes";

/** The kubelet. */
export function kubelet(layout: NodeLayout, parts: NodeParts): Component {
    return {
        name: "kubelet",
        command: parts.kube,
        args: [
            "kubelet",
            `--config=${configPath(layout)}`,
            `--kubeconfig=${componentKubeconfig(layout, "kubelet")}`,
            `--hostname-override=${nodeName}`,
            `--node-ip=${addresses.node}`,
            `--root-dir=${layout.kubelet}`,
        ],
    };
}

function configPath(layout: NodeLayout): string {
    return join(layout.config, "kubelet.json");
}

/** Writes the kubelet's configuration. */
export function configureKubelet(layout: NodeLayout): void {
    const resolvConf = join(layout.config, "resolv.conf");
    writeFileAtomically(resolvConf, "# nothing outside the cluster is to be found from inside it\n", 0o644);
    writeFileAtomically(configPath(layout), JSON.stringify(kubeletConfig(layout, resolvConf), undefined, 2));
}

function kubeletConfig(layout: NodeLayout, resolvConf: string) {
    const pki = pkiFiles(layout);
    return {
        apiVersion: "kubelet.config.k8s.io/v1beta1",
        kind: "KubeletConfiguration",
        // cgroup v1 is still what some machines have; Kubernetes 1.34 refuses it unless told so.
        failCgroupV1: false,
        cgroupDriver: "cgroupfs",
        cgroupRoot: podCgroupRoot,
        containerRuntimeEndpoint: `unix://${layout.containerdSocket}`,
        clusterDNS: [addresses.clusterDns],
        clusterDomain: addresses.clusterDomain,
        resolvConf,
        address: addresses.node,
        tlsCertFile: pki.certificate("kubelet"),
        tlsPrivateKeyFile: pki.key("kubelet"),
        authentication: {
            anonymous: { enabled: false },
            webhook: { enabled: true },
            x509: { clientCAFile: pki.clusterAuthority },
        },
        authorization: { mode: "Webhook" },
        podLogsDir: layout.podLogs,
        volumePluginDir: join(layout.kubelet, "volume-plugins"),
        failSwapOn: false,
        oomScoreAdj: 0,
        // Images come from archives, so one that is collected could not be had again.
        imageGCHighThresholdPercent: 100,
        imageGCLowThresholdPercent: 99,
        // A developer's machine is often rather full; only a really full one is a reason to end pods.
        evictionHard: {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "nodefs.inodesFree": "1%",
            "imagefs.available": "1%",
        },
        // A crashing pod should be back soon after its cause is mended, which a demo mends in seconds.
        crashLoopBackOff: { maxContainerRestartPeriod: "30s" },
        featureGates: { KubeletCrashLoopBackOffMax: true },
    };
}
