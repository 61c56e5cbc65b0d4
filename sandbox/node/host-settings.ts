import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { layout, writeFileAtomically } from "./layout";

/**
 * The machine's kernel settings that the kubelet changes when it starts (kubernetes pkg/util/sysctl/sysctl.go); `down`
 * restores them.
 */
const changedByKubelet = [
    "vm/overcommit_memory",
    "vm/panic_on_oom",
    "kernel/panic",
    "kernel/panic_on_oops",
    "kernel/keys/root_maxkeys",
    "kernel/keys/root_maxbytes",
] as const;

const memory = join(layout.run, "host-settings");

/** Saves the settings, once: after a crash the machine has the kubelet's values. */
export function rememberHostSettings(): void {
    if (existsSync(memory)) return;
    const values = changedByKubelet.map((name) => [name, readFileSync(`/proc/sys/${name}`, "utf8").trim()]);
    writeFileAtomically(memory, JSON.stringify(Object.fromEntries(values)));
}

export function restoreHostSettings(): void {
    if (!existsSync(memory)) return;
    const values = JSON.parse(readFileSync(memory, "utf8")) as Record<string, string>;
    for (const [name, value] of Object.entries(values)) {
        const path = `/proc/sys/${name}`;
        if (readFileSync(path, "utf8").trim() !== value) writeFileSync(path, value);
    }
    rmSync(memory);
}
