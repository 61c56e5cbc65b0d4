import type { NodeLayout } from "../layout";
import { pkiFiles } from "../pki";
import type { Component } from "../processes";

/** The API server's database; reachable only in the node's network namespace. */
export const etcdUrl = "https://127.0.0.1:2379";

/** etcd: keeps the cluster's objects across `down` and `up`. Clients need a certificate. */
export function etcd(layout: NodeLayout): Component {
    const pki = pkiFiles(layout);
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
