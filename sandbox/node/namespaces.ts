import { mkdirSync, readdirSync, readlinkSync, rmdirSync, statSync } from "node:fs";
import { networkNamespaceFile } from "./network";
import type { NodeLayout } from "./layout";
import { type Component, runningComponent } from "./processes";

/** The process that holds the namespaces while components come and go. */
export const namespaceHolder = "namespaces";

/**
 * Folders outside the cache that kubelet, containerd and CNI plugins use whatever their configuration says. In the
 * node's mount namespace each is covered by a folder of the sandbox; on the host only an empty mount point shows.
 */
const coveredFolders = ["/var/lib/kubelet", "/var/lib/cni", "/var/log/pods", "/var/log/containers"] as const;

/**
 * The holder of the node's namespaces. It runs in the network namespace and in a mount namespace of its own: mounts of
 * pods never show on the host, and all of them are gone with the last process, however it ended. Mounts made on the
 * host later still arrive inside (slave), and containers may ask for propagation (shared).
 */
export function namespaceHolderComponent(layout: NodeLayout): Component {
    const cover = coveredFolders.map((folder) => {
        const source = { "/var/lib/kubelet": layout.kubelet, "/var/log/pods": layout.podLogs }[folder as string];
        return source ? `mount --bind ${quote(source)} ${folder}` : `mount -t tmpfs -o mode=755 sandbox ${folder}`;
    });
    const script = [
        "set -e",
        "mount --make-rslave /",
        "mount --make-rshared /",
        // Sockets of shims, names of pods' network namespaces and lock files: all of them belong to one run.
        "mount -t tmpfs -o mode=755 sandbox /run",
        ...cover,
        "echo ready",
        "exec sleep infinity",
    ].join("\n");
    return {
        name: namespaceHolder,
        command: "nsenter",
        args: [
            `--net=${networkNamespaceFile}`,
            "unshare",
            "--mount",
            "--propagation",
            "unchanged",
            "/bin/sh",
            "-c",
            script,
        ],
    };
}

function quote(path: string): string {
    return `'${path.replaceAll("'", `'\\''`)}'`;
}

/** Creates what the holder covers and the folders it covers them with. */
export function createMountPoints(layout: NodeLayout): void {
    for (const folder of [...coveredFolders, layout.kubelet, layout.podLogs]) mkdirSync(folder, { recursive: true });
}

/** Removes the mount points again where they are empty; what somebody else filled stays. */
export function removeMountPoints(): void {
    for (const folder of coveredFolders) {
        try {
            rmdirSync(folder);
        } catch {
            // never created, or not ours to remove
        }
    }
}

/** Whether the holder lives in the network namespace that has the name now, not in one deleted under it. */
export function namespacesAreSound(layout: NodeLayout): boolean {
    const holder = runningComponent(layout, namespaceHolder);
    if (!holder) return false;
    try {
        return statSync(networkNamespaceFile).ino === namespaceInode(holder.pid, "net");
    } catch {
        return false;
    }
}

function namespaceInode(pid: number, kind: "net" | "mnt"): number {
    return Number(/\[(\d+)\]/.exec(readlinkSync(`/proc/${pid}/ns/${kind}`))?.[1]);
}

/**
 * Processes in the sandbox's network namespace or in the mount namespace of its holder, found by the kernel's own
 * account: it knows them without a record, a parent or a cgroup.
 */
export function processesInNamespaces(layout: NodeLayout): number[] {
    const ours = new Set<string>();
    const holder = runningComponent(layout, namespaceHolder);
    if (holder && namespacesAreSound(layout)) ours.add(`mnt:${namespaceInode(holder.pid, "mnt")}`);
    try {
        ours.add(`net:${statSync(networkNamespaceFile).ino}`);
    } catch {
        // the namespace has no name any more; its processes are still in the cgroup
    }
    return readdirSync("/proc")
        .filter((entry) => /^\d+$/.test(entry))
        .map(Number)
        .filter((pid) => {
            try {
                return (["net", "mnt"] as const).some((kind) => ours.has(`${kind}:${namespaceInode(pid, kind)}`));
            } catch {
                return false; // ended meanwhile
            }
        });
}
