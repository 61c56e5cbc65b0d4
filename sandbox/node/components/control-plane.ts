import { addresses } from "../addresses";
import { perFamily } from "../choices";
import { componentKubeconfig } from "../kubeconfig";
import { join } from "node:path";
import { layout } from "../layout";
import { locateParts } from "../../parts/locate";
import type { SandboxNode } from "../nodes";
import { pki } from "../pki";
import type { Component } from "../processes";

/** The API server's database; reachable only in the node's network namespace. */
const etcdUrl = "https://127.0.0.1:2379";

/** etcd: keeps the cluster's objects across `down` and `up`. Clients need a certificate. */
export function etcd(): Component {
    const peerUrl = "https://127.0.0.1:2380";
    return {
        name: "etcd",
        command: "etcd",
        args: [
            "--name=sandbox",
            `--data-dir=${layout.etcd}`,
            `--listen-client-urls=${etcdUrl}`,
            `--advertise-client-urls=${etcdUrl}`,
            `--listen-peer-urls=${peerUrl}`,
            `--initial-advertise-peer-urls=${peerUrl}`,
            `--initial-cluster=sandbox=${peerUrl}`,
            "--client-cert-auth",
            `--trusted-ca-file=${pki.etcdAuthority}`,
            `--cert-file=${pki.certificate("etcd")}`,
            `--key-file=${pki.key("etcd")}`,
            "--peer-client-cert-auth",
            `--peer-trusted-ca-file=${pki.etcdAuthority}`,
            `--peer-cert-file=${pki.certificate("etcd")}`,
            `--peer-key-file=${pki.key("etcd")}`,
            // A sandbox that runs for weeks must not fill the disk with old revisions.
            "--auto-compaction-mode=periodic",
            "--auto-compaction-retention=1h",
            "--log-level=warn",
            "--logger=zap",
        ],
    };
}

/** kube-apiserver, with Kubernetes' default admission plugins (PodSecurity among them) and NodeRestriction. */
export function apiServer(): Component {
    return {
        name: "kube-apiserver",
        command: locateParts().kube,
        args: [
            "apiserver",
            `--etcd-servers=${etcdUrl}`,
            `--etcd-cafile=${pki.etcdAuthority}`,
            `--etcd-certfile=${pki.certificate("apiserver-etcd-client")}`,
            `--etcd-keyfile=${pki.key("apiserver-etcd-client")}`,
            `--advertise-address=${addresses.node}`,
            `--bind-address=${addresses.node}`,
            `--secure-port=${addresses.apiPort}`,
            `--service-cluster-ip-range=${perFamily(addresses.services, addresses.servicesIpv6).join(",")}`,
            `--client-ca-file=${pki.clusterAuthority}`,
            `--tls-cert-file=${pki.certificate("apiserver")}`,
            `--tls-private-key-file=${pki.key("apiserver")}`,
            `--cert-dir=${join(layout.config, "apiserver")}`,
            `--kubelet-certificate-authority=${pki.clusterAuthority}`,
            `--kubelet-client-certificate=${pki.certificate("apiserver-kubelet-client")}`,
            `--kubelet-client-key=${pki.key("apiserver-kubelet-client")}`,
            // The node's name does not resolve; without this, logs, exec and port-forward fail.
            "--kubelet-preferred-address-types=InternalIP",
            `--service-account-issuer=https://kubernetes.default.svc.${addresses.clusterDomain}`,
            `--service-account-key-file=${pki.serviceAccountPublicKey}`,
            `--service-account-signing-key-file=${pki.serviceAccountKey}`,
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--allow-privileged=true",
            "--profiling=false",
        ],
    };
}

export function controllerManager(): Component {
    return {
        name: "kube-controller-manager",
        command: locateParts().kube,
        args: [
            "controller-manager",
            ...delegated(componentKubeconfig("controller-manager")),
            "--use-service-account-credentials",
            `--service-account-private-key-file=${pki.serviceAccountKey}`,
            `--root-ca-file=${pki.clusterAuthority}`,
            `--cluster-signing-cert-file=${pki.clusterAuthority}`,
            `--cluster-signing-key-file=${pki.clusterAuthorityKey}`,
            `--cert-dir=${join(layout.config, "controller-manager")}`,
            `--cluster-cidr=${perFamily(addresses.podRange, addresses.podRangeIpv6).join(",")}`,
            "--allocate-node-cidrs=false",
            "--profiling=false",
        ],
    };
}

export function scheduler(): Component {
    return {
        name: "kube-scheduler",
        command: locateParts().kube,
        args: [
            "scheduler",
            ...delegated(componentKubeconfig("scheduler")),
            `--cert-dir=${join(layout.config, "scheduler")}`,
            "--profiling=false",
        ],
    };
}

/** Credentials for the component's own calls and for authenticating its callers. One of each runs: no election. */
function delegated(kubeconfig: string): string[] {
    return [
        `--kubeconfig=${kubeconfig}`,
        `--authentication-kubeconfig=${kubeconfig}`,
        `--authorization-kubeconfig=${kubeconfig}`,
        "--bind-address=127.0.0.1",
        "--leader-elect=false",
    ];
}

/** Does what a cloud's controllers do: assigns LoadBalancer addresses, and frees volumes for the next claim. */
export function sandboxController(): Component {
    return {
        name: "sandbox-controller",
        command: locateParts().kube,
        args: [
            "sandbox-controller",
            `--kubeconfig=${componentKubeconfig("sandbox-controller")}`,
            `--load-balancer-pool=${addresses.loadBalancerPool}`,
            `--volumes=${layout.volumes}`,
        ],
    };
}

/** kube-proxy, which replaces Service addresses with pod addresses. */
export function proxy(node: SandboxNode): Component {
    return {
        name: `kube-proxy${node.suffix}`,
        node,
        command: locateParts().kube,
        args: [
            "proxy",
            `--kubeconfig=${componentKubeconfig("proxy")}`,
            `--hostname-override=${node.name}`,
            "--proxy-mode=iptables",
            `--cluster-cidr=${perFamily(addresses.podRange, addresses.podRangeIpv6).join(",")}`,
            // The default of 1 s, for clusters with thousands of Services, delays a change that follows another one:
            // a shop that is up would not answer yet.
            "--iptables-min-sync-period=100ms",
            // These sysctls are read-only in a network namespace; kube-proxy exits if it cannot set them.
            "--conntrack-max-per-core=0",
            "--conntrack-tcp-timeout-established=0s",
            "--conntrack-tcp-timeout-close-wait=0s",
            // Lowering the score needs CAP_SYS_RESOURCE, which root may lack.
            "--oom-score-adj=0",
        ],
    };
}
