import { readdirSync, readFileSync } from "node:fs";

/** How each process of this machine was started. */
export function commandLines(): string[] {
    return readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map(commandLine);
}

/** Empty where the process has ended meanwhile. */
function commandLine(pid: string): string {
    try {
        return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    } catch {
        return "";
    }
}
