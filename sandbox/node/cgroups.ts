import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type SandboxNode, sandboxNodes } from "./nodes";

/**
 * All processes of the sandbox, pods included, are in one cgroup. `down` finds them all: a process cannot leave its
 * cgroup by forking, losing its parent or changing its name.
 */
const sandboxGroup = "chaos-shop";

/** The cgroup root of a node's kubelet, relative to each hierarchy. A kubelet removes what it does not know there. */
export const podCgroupRoot = ({ cgroup }: SandboxNode) => `/${sandboxGroup}${cgroup}`;

/**
 * The sandbox's CPU weight, for cgroup v1 and v2: eight times a process of the host. By default all pods together would
 * get no more than one other process, such as the Pulumi engine that waits for them.
 */
const weights = { "cpu.shares": 8 * 1_024, "cpu.weight": 8 * 100 };

/** The mounted hierarchies: one per controller with cgroup v1, a single one with v2. */
function hierarchies(): string[] {
    return readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .filter((line) => / - cgroup2? /.test(line))
        .map((line) => line.split(" ")[4]!)
        .filter((path) => existsSync(join(path, "cgroup.procs")));
}

/**
 * Creates the cgroups in every hierarchy; the kubelet rejects a root that is missing in one.
 *
 * @returns the `cgroup.procs` file to which a component writes its process id before it starts its program.
 */
export function ensureCgroups(): string {
    for (const hierarchy of hierarchies()) {
        mkdirSync(join(hierarchy, sandboxGroup, "components"), { recursive: true });
        for (const node of sandboxNodes()) {
            mkdirSync(join(hierarchy, podCgroupRoot(node)), { recursive: true });
            if (node.cgroup !== "") enableControllers(join(hierarchy, sandboxGroup));
        }
        for (const [file, weight] of Object.entries(weights)) {
            const path = join(hierarchy, sandboxGroup, file);
            if (existsSync(path)) writeFileSync(path, String(weight));
        }
    }
    // One hierarchy is enough to find processes; the freezer (or v2) adds no accounting.
    const home = hierarchies().find((path) => path.endsWith("/freezer")) ?? hierarchies().at(-1);
    if (home === undefined)
        throw new Error(
            "this machine has no mounted cgroup hierarchy, which containers need; mount one on /sys/fs/cgroup",
        );
    return join(home, sandboxGroup, "components", "cgroup.procs");
}

/** Of cgroup v2: a kubelet rejects a root that its parent group gives no controllers. */
function enableControllers(group: string): void {
    const available = join(group, "cgroup.controllers");
    if (!existsSync(available)) return;
    for (const controller of readFileSync(available, "utf8").trim().split(/\s+/).filter(Boolean))
        writeFileSync(join(group, "cgroup.subtree_control"), `+${controller}`);
}

/** All cgroups of the sandbox, children first. */
function sandboxCgroups(): string[] {
    const roots = hierarchies().map((hierarchy) => join(hierarchy, sandboxGroup));
    return roots.filter((root) => existsSync(root)).flatMap(withGroupsBelow);
}

/** A cgroup and all below it, children first. None if it is gone. */
export const withGroupsBelow = (path: string): string[] =>
    unlessGone(() => {
        const groups = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
        return [...groups.flatMap(({ name }) => withGroupsBelow(join(path, name))), path];
    });

/** What a look into a cgroup finds; nothing if that is gone: a pod's may end at any moment. */
function unlessGone<T>(look: () => T[]): T[] {
    try {
        return look();
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
        throw error;
    }
}

/**
 * The processes in the sandbox's cgroups.
 *
 * @param which `pods`: only containers and their pause processes; a node: those of its pods.
 *     @default all, with components
 */
export function cgroupProcesses(which: "all" | "pods" | SandboxNode = "all"): number[] {
    const root = typeof which === "object" ? podCgroupRoot(which) : "";
    const groups = sandboxCgroups().filter((group) => which === "all" || group.includes(`${root}/kubepods`));
    const pids = groups.flatMap((group) =>
        unlessGone(() => readFileSync(join(group, "cgroup.procs"), "utf8").split("\n")),
    );
    return [...new Set(pids.map(Number).filter((pid) => pid !== 0))];
}

export function cgroupsExist(): boolean {
    return sandboxCgroups().length > 0;
}

/**
 * Removes the sandbox's cgroups. The kernel releases a group some milliseconds after its last process ended: this
 * retries for 5 s.
 *
 * @throws with the groups that are still busy.
 */
export async function removeCgroups(): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
        for (const group of sandboxCgroups()) {
            try {
                rmdirSync(group);
            } catch {
                // Busy: retried in the next round.
            }
        }
        if (!cgroupsExist()) return;
        await sleep(50);
    }
    throw new Error(`these cgroups are still busy: ${sandboxCgroups().join(", ")}`);
}
