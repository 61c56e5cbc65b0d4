import { join } from "node:path";
import { addresses, nodeName } from "../addresses";
import { podCgroupRoot } from "../cgroups";
import { componentKubeconfig } from "../kubeconfig";
import { layout, writeFileAtomically } from "../layout";
import { locateParts } from "../../parts/locate";
import { pki } from "../pki";
import type { Component } from "../processes";

/** Where the node says that it is, as the nodes of clouds do. */
const [region, zone] = ["sandbox", "zone-a"];

export function kubelet(): Component {
    return {
        name: "kubelet",
        command: locateParts().kube,
        args: [
            "kubelet",
            `--config=${configPath}`,
            `--kubeconfig=${componentKubeconfig("kubelet")}`,
            `--hostname-override=${nodeName}`,
            `--node-ip=${addresses.node}`,
            `--node-labels=topology.kubernetes.io/region=${region},topology.kubernetes.io/zone=${zone}`,
            `--root-dir=${layout.kubelet}`,
        ],
    };
}

const configPath = join(layout.config, "kubelet.json");

export function configureKubelet(): void {
    const resolvConf = join(layout.config, "resolv.conf");
    writeFileAtomically(resolvConf, "# nothing outside the cluster is to be found from inside it\n", 0o644);
    writeFileAtomically(configPath, JSON.stringify(kubeletConfig(resolvConf), undefined, 2));
}

function kubeletConfig(resolvConf: string) {
    return {
        apiVersion: "kubelet.config.k8s.io/v1beta1",
        kind: "KubeletConfiguration",
        // Some machines still have cgroup v1, which Kubernetes 1.34 rejects by default.
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
