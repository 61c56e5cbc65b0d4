import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sandboxPaths } from "../parts/paths";

/** Where the node keeps what. Everything lies under the cache's `node` folder, so that `destroy` can remove it whole. */
export interface NodeLayout {
    readonly root: string;
    /** Certificates and private keys, 0700. */
    readonly pki: string;
    /** The user's kubeconfig (admin), 0600. */
    readonly kubeconfig: string;
    /** One kubeconfig a component, 0600. */
    readonly kubeconfigs: string;
    /** Generated configuration: containerd, CNI, kubelet. */
    readonly config: string;
    readonly etcd: string;
    readonly containerdRoot: string;
    readonly containerdState: string;
    readonly containerdSocket: string;
    readonly kubelet: string;
    /** The address plugin's leases, which describe running pods only. */
    readonly podAddresses: string;
    readonly podLogs: string;
    /** One folder a local PersistentVolume. */
    readonly volumes: string;
    /** One log a component. */
    readonly logs: string;
    /** One record a running process. */
    readonly run: string;
    readonly lock: string;
}

/** The layout for this user's cache. */
export function nodeLayout(): NodeLayout {
    const { node: root, kubeconfig } = sandboxPaths();
    return {
        root,
        pki: join(root, "pki"),
        kubeconfig,
        kubeconfigs: join(root, "kubeconfigs"),
        config: join(root, "config"),
        etcd: join(root, "etcd"),
        containerdRoot: join(root, "containerd"),
        containerdState: join(root, "containerd-state"),
        containerdSocket: join(root, "containerd-state", "containerd.sock"),
        kubelet: join(root, "kubelet"),
        podAddresses: join(root, "pod-addresses"),
        podLogs: join(root, "pod-logs"),
        volumes: join(root, "volumes"),
        logs: join(root, "logs"),
        run: join(root, "run"),
        // Beside the folder, not in it: `destroy` removes the folder while it holds the lock.
        lock: `${root}.lock`,
    };
}

/**
 * Writes a file so that a reader, or the next start after a kill, sees the old content or the new, never half of it.
 *
 * @param mode permission bits, default 0600 because most of these files are credentials or name them.
 */
export function writeFileAtomically(path: string, content: string, mode = 0o600): void {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.new`;
    rmSync(draft, { force: true });
    writeFileSync(draft, content, { mode });
    renameSync(draft, path);
}
