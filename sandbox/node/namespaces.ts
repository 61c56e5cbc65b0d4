import { mkdirSync, readdirSync, readlinkSync, rmdirSync, statSync } from "node:fs";
import { shellQuoted } from "../../toolchain/pulumi/environment";
import { currentNetwork, networks } from "./networks/registry";
import { networkNamespaceFileOf, possibleNodes, type SandboxNode, sandboxNodes } from "./nodes";
import { type Component, namespaceHolder, runningComponent } from "./processes";

/**
 * Folders outside the cache that kubelet, containerd and CNI plugins use regardless of their configuration. In the
 * node's mount namespace a folder of the sandbox covers each; the host only shows an empty mount point. The network's
 * program may use some more.
 */
const coveredFolders = ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"];

/**
 * The holder of the node's namespaces. It runs in the network namespace and in a new mount namespace: mounts of pods do
 * not show on the host, and are gone with the last process, however it ends. Later mounts on the host still arrive
 * inside (slave), and containers may request propagation (shared).
 */
export function namespaceHolderComponent(node: SandboxNode): Component {
    const { kubelet, podLogs } = node.folders;
    const network = currentNetwork();
    const cover = [...coveredFolders, ...network.coveredFolders].map((folder) => {
        const source = { "/var/lib/kubelet": kubelet, "/var/log/pods": podLogs }[folder];
        return source
            ? `mount --bind ${shellQuoted(source)} ${folder}`
            : `mount -t tmpfs -o mode=755 sandbox ${folder}`;
    });
    const script = [
        "set -e",
        "mount --make-rslave /",
        "mount --make-rshared /",
        // Sockets of shims, names of pods' network namespaces, lock files: all belong to one run.
        "mount -t tmpfs -o mode=755 sandbox /run",
        ...cover,
        ...network.mountCommands(node),
        "echo ready",
        "exec sleep infinity",
    ].join("\n");
    const unshare = ["unshare", "--mount", "--propagation", "unchanged", "/bin/sh", "-c", script];
    const args = [`--net=${networkNamespaceFileOf(node)}`, ...unshare];
    return { name: namespaceHolder(node), node, command: "nsenter", args };
}

/** Creates the covered folders and the covering ones. */
export function createMountPoints(): void {
    const covering = sandboxNodes().flatMap(({ folders }) => [folders.kubelet, folders.podLogs]);
    for (const folder of [...coveredFolders, ...currentNetwork().coveredFolders, ...covering])
        mkdirSync(folder, { recursive: true });
}

export function removeMountPoints(): void {
    const ofNetworks = Object.values(networks).flatMap((network) => network.coveredFolders);
    for (const folder of [...coveredFolders, ...ofNetworks]) {
        try {
            rmdirSync(folder);
        } catch {
            // Missing, or used by another program.
        }
    }
}

/** Whether the holder is in the network namespace that has the name now, not in a deleted one. */
export function namespacesAreSound(node: SandboxNode): boolean {
    const holder = runningComponent(namespaceHolder(node));
    return holder !== undefined && isInNetworkOf(node, holder.pid);
}

/**
 * Processes in the network namespaces of nodes according to the kernel: also those without a record or a parent.
 *
 * @param nodes @default all that a sandbox may have
 */
export function processesInNamespaces(nodes: readonly SandboxNode[] = possibleNodes): number[] {
    return readdirSync("/proc")
        .filter((entry) => /^\d+$/.test(entry))
        .map(Number)
        .filter((pid) => nodes.some((node) => isInNetworkOf(node, pid)));
}

/** Whether a process is in the network namespace that has the node's name. */
function isInNetworkOf(node: SandboxNode, pid: number): boolean {
    try {
        return readlinkSync(`/proc/${pid}/ns/net`) === `net:[${statSync(networkNamespaceFileOf(node)).ino}]`;
    } catch {
        return false; // The process has ended, or there is no such namespace.
    }
}
