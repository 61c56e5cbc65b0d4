import { mkdirSync, readdirSync, readlinkSync, rmdirSync, statSync } from "node:fs";
import { shellQuoted } from "../../toolchain/pulumi/environment";
import { networkNamespaceFile } from "./network";
import { layout } from "./layout";
import { type Component, namespaceHolder, runningComponent } from "./processes";

/**
 * Folders outside the cache that kubelet, containerd and CNI plugins use regardless of their configuration. In the
 * node's mount namespace a folder of the sandbox covers each; the host only shows an empty mount point.
 */
const coveredFolders = ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"] as const;

/**
 * The holder of the node's namespaces. It runs in the network namespace and in a new mount namespace: mounts of pods do
 * not show on the host, and are gone with the last process, however it ends. Later mounts on the host still arrive
 * inside (slave), and containers may request propagation (shared).
 */
export function namespaceHolderComponent(): Component {
    const cover = coveredFolders.map((folder) => {
        const source = { "/var/lib/kubelet": layout.kubelet, "/var/log/pods": layout.podLogs }[folder as string];
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
        "echo ready",
        "exec sleep infinity",
    ].join("\n");
    const unshare = ["unshare", "--mount", "--propagation", "unchanged", "/bin/sh", "-c", script];
    return { name: namespaceHolder, command: "nsenter", args: [`--net=${networkNamespaceFile}`, ...unshare] };
}

/** Creates the covered folders and the covering ones. */
export function createMountPoints(): void {
    for (const folder of [...coveredFolders, layout.kubelet, layout.podLogs]) mkdirSync(folder, { recursive: true });
}

export function removeMountPoints(): void {
    for (const folder of coveredFolders) {
        try {
            rmdirSync(folder);
        } catch {
            // Missing, or used by another program.
        }
    }
}

/** Whether the holder is in the network namespace that has the name now, not in a deleted one. */
export function namespacesAreSound(): boolean {
    const holder = runningComponent(namespaceHolder);
    return holder !== undefined && isInNetwork(holder.pid);
}

/** Processes in the sandbox's network namespace according to the kernel: also those without a record or a parent. */
export function processesInNamespaces(): number[] {
    return readdirSync("/proc")
        .filter((entry) => /^\d+$/.test(entry))
        .map(Number)
        .filter(isInNetwork);
}

/** Whether a process is in the network namespace that has the sandbox's name. */
function isInNetwork(pid: number): boolean {
    try {
        return readlinkSync(`/proc/${pid}/ns/net`) === `net:[${statSync(networkNamespaceFile).ino}]`;
    } catch {
        return false; // The process has ended, or there is no such namespace.
    }
}
