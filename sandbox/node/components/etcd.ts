import type { NodeLayout } from "../layout";
import { pkiFiles } from "../pki";
import type { Component } from "../processes";

/** Where the API server finds its database, inside the node's network namespace only. */
export const etcdUrl = "https://127.0.0.1:2379";

/** etcd, which keeps the cluster's objects across `down` and `up`; it talks to nobody without a certificate. */
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
            // Old revisions go after an hour, so that a sandbox that is kept for weeks does not fill up.
            "--auto-compaction-mode=periodic",
            "--auto-compaction-retention=1h",
            "--log-level=warn",
            "--logger=zap",
        ],
    };
}
