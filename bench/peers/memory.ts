import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

const sampleMs = 200;

/**
 * Watches the memory of a process and all that it has started, until `signal` aborts. Pages that processes share count
 * once (the kernel's proportional set size).
 *
 * @returns the most that they had together, in MiB
 */
export async function peakMemory(pid: number, signal: AbortSignal): Promise<number> {
    let peak = 0;
    for (; !signal.aborted; await sleep(sampleMs)) {
        const all = descendantsOf(pid).map(memoryOf);
        peak = Math.max(
            peak,
            all.reduce((sum, one) => sum + one, 0),
        );
    }
    return peak / 1_024;
}

/** A process and all that it has started. */
export function descendantsOf(pid: number): number[] {
    const parents = readdirSync("/proc")
        .filter((name) => /^\d+$/.test(name))
        .map((name) => [Number(name), parentOf(Number(name))] as const);
    const found = [pid];
    for (const one of found) found.push(...parents.filter(([, parent]) => parent === one).map(([child]) => child));
    return found;
}

/**
 * The second field after the name in parentheses, which may have spaces.
 * https://man7.org/linux/man-pages/man5/proc_pid_stat.5.html
 */
const parentOf = (pid: number) =>
    Number(
        read(`/proc/${pid}/stat`)
            .replace(/^.*\) \S+ /s, "")
            .split(" ")[0],
    );

const memoryOf = (pid: number) => Number(/^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`))?.[1] ?? 0);

/** Empty if the process has ended. */
function read(file: string): string {
    try {
        return readFileSync(file, "utf8");
    } catch {
        return "";
    }
}
