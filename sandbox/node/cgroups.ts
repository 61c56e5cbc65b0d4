import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pause } from "./command";

/**
 * Everything that the sandbox runs lives under one cgroup, pods included. That is what makes `down` complete: a
 * process cannot leave its cgroup by forking, losing its parent or changing its name.
 */
const sandboxGroup = "chaos-shop";

/** The cgroup root for the kubelet's pods, relative to each hierarchy. */
export const podCgroupRoot = `/${sandboxGroup}`;

/**
 * What the sandbox weighs when processors are short, in cgroup v1's measure and v2's: eight times a process of the host.
 * Else all pods together would get no more than any one process beside them, such as the engine that waits for them.
 */
const weights = { "cpu.shares": 8 * 1_024, "cpu.weight": 8 * 100 };

/** The mounted cgroup hierarchies: one per controller with cgroup v1, a single one with v2. */
function hierarchies(): string[] {
    return readFileSync("/proc/self/mountinfo", "utf8")
        .split("\n")
        .filter((line) => / - cgroup2? /.test(line))
        .map((line) => line.split(" ")[4]!)
        .filter((path) => existsSync(join(path, "cgroup.procs")));
}

/**
 * Creates the cgroups, in every hierarchy because the kubelet refuses a root that is missing in one.
 *
 * @returns the `cgroup.procs` file that a component writes itself into before it starts its program.
 */
export function ensureCgroups(): string {
    for (const hierarchy of hierarchies()) {
        mkdirSync(join(hierarchy, sandboxGroup, "components"), { recursive: true });
        for (const [file, weight] of Object.entries(weights)) {
            const path = join(hierarchy, sandboxGroup, file);
            if (existsSync(path)) writeFileSync(path, String(weight));
        }
    }
    // One hierarchy is enough to find a process again, and the freezer (or v2) adds no accounting to it.
    const home = hierarchies().find((path) => path.endsWith("/freezer")) ?? hierarchies().at(-1);
    if (home === undefined) {
        throw new Error(
            "this machine has no mounted cgroup hierarchy, which containers need; mount one on /sys/fs/cgroup",
        );
    }
    return join(home, sandboxGroup, "components", "cgroup.procs");
}

/** Every cgroup of the sandbox, children before their parents. */
function sandboxCgroups(): string[] {
    const found: string[] = [];
    const visit = (path: string): void => {
        for (const entry of readdirSync(path, { withFileTypes: true })) {
            if (entry.isDirectory()) visit(join(path, entry.name));
        }
        found.push(path);
    };
    for (const hierarchy of hierarchies()) {
        const root = join(hierarchy, sandboxGroup);
        if (existsSync(root)) visit(root);
    }
    return found;
}

/**
 * The processes in the sandbox's cgroups.
 *
 * @param which `pods`: containers and their pause processes only; `all` (default): components too.
 */
export function cgroupProcesses(which: "all" | "pods" = "all"): number[] {
    const pids = new Set<number>();
    for (const group of sandboxCgroups()) {
        if (which === "pods" && !group.includes(`/${sandboxGroup}/kubepods`)) continue;
        try {
            for (const pid of readFileSync(join(group, "cgroup.procs"), "utf8").split("\n")) {
                if (pid !== "" && pid !== "0") pids.add(Number(pid));
            }
        } catch (error) {
            if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error; // a group that has just been removed
        }
    }
    return [...pids];
}

/** Whether any cgroup of the sandbox exists. */
export function cgroupsExist(): boolean {
    return sandboxCgroups().length > 0;
}

/**
 * Removes the sandbox's cgroups. The kernel lets a group go only some milliseconds after its last process, so this
 * tries for up to five seconds.
 *
 * @throws naming the groups that are still busy.
 */
export async function removeCgroups(): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
        for (const group of sandboxCgroups()) {
            try {
                rmdirSync(group);
            } catch {
                // busy: the next round tries again, and what stays is reported below
            }
        }
        if (!cgroupsExist()) return;
        await pause(50);
    }
    throw new Error(`these cgroups are still busy: ${sandboxCgroups().join(", ")}`);
}
