import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { ensureCgroups } from "./cgroups";
import { pause, systemPath } from "./command";
import { type NodeLayout, writeFileAtomically } from "./layout";

/** A program of the node that runs until it is stopped. */
export interface Component {
    /** Names its log and its record; as shown by `status`. */
    readonly name: string;
    readonly command: string;
    readonly args: readonly string[];
    /** Added to a bare environment that holds only PATH and HOME. */
    readonly environment?: Readonly<Record<string, string>>;
}

/** What is remembered of a started component, so that a later command can tell it from a stranger with its number. */
export interface ProcessRecord {
    readonly pid: number;
    /** Start time in clock ticks since boot, from /proc: a reused process number has another one. */
    readonly startTicks: string;
    readonly commandLine: readonly string[];
    /** ISO 8601. */
    readonly startedAt: string;
}

/** Start time of a live process in clock ticks since boot; undefined if it is gone or only waits to be reaped. */
function startTicks(pid: number): string | undefined {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        // The second field is the name in parentheses and may hold anything, so the rest counts from the last one.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return fields[0] === "Z" ? undefined : fields[19];
    } catch {
        return undefined; // no such process
    }
}

function recordPath(layout: NodeLayout, name: string): string {
    return join(layout.run, `${name}.json`);
}

export function logPath(layout: NodeLayout, name: string): string {
    return join(layout.logs, `${name}.log`);
}

/** What was recorded of a component, alive or not; undefined if it was never started or was stopped. */
export function readRecord(layout: NodeLayout, name: string): ProcessRecord | undefined {
    try {
        return JSON.parse(readFileSync(recordPath(layout, name), "utf8")) as ProcessRecord;
    } catch {
        return undefined; // none, or a file that says nothing: both mean that there is nothing to trust
    }
}

/** The record of a component if that very process is alive. */
export function runningComponent(layout: NodeLayout, name: string): ProcessRecord | undefined {
    const record = readRecord(layout, name);
    return record && startTicks(record.pid) === record.startTicks ? record : undefined;
}

/** The names of all components that have a record. */
export function recordedComponents(layout: NodeLayout): string[] {
    if (!existsSync(layout.run)) return [];
    return readdirSync(layout.run)
        .filter((file) => file.endsWith(".json"))
        .map((file) => file.slice(0, -".json".length));
}

/** The last lines of a component's log. */
export function logTail(layout: NodeLayout, name: string, lines = 12): string[] {
    try {
        return readFileSync(logPath(layout, name), "utf8").trimEnd().split("\n").slice(-lines);
    } catch {
        return [];
    }
}

/** Whether it runs just as it should: alive, from this command line, and its program not replaced since. */
export function isCurrent(layout: NodeLayout, component: Component): boolean {
    const record = runningComponent(layout, component.name);
    return record !== undefined && record.commandLine.join("\0") === [component.command, ...component.args].join("\0");
}

/**
 * Starts a component in the background, detached from this process, unless it already runs from the same command line;
 * one with another command line is stopped first.
 *
 * @param joinNamespaces a process whose network and mount namespaces it joins; none for the one that makes them.
 */
export async function startComponent(layout: NodeLayout, component: Component, joinNamespaces?: number): Promise<void> {
    if (isCurrent(layout, component)) return;
    await stopComponent(layout, component.name);
    mkdirSync(layout.logs, { recursive: true, mode: 0o700 });
    const path = logPath(layout, component.name);
    if (existsSync(path)) renameSync(path, `${path}.previous`);
    const log = openSync(path, "a", 0o600);
    const join = joinNamespaces === undefined ? [] : ["nsenter", `--target=${joinNamespaces}`, "--net", "--mount"];
    const commandLine = [component.command, ...component.args];
    try {
        const child = spawn(
            "/bin/sh",
            // The shell enters the cgroup before anything can fork, and every step is an exec: one process, one number.
            ["-c", 'echo $$ > "$0" && exec "$@"', ensureCgroups(), ...join, ...commandLine],
            {
                detached: true,
                stdio: ["ignore", log, log],
                cwd: "/",
                env: { PATH: systemPath, HOME: "/root", ...component.environment },
            },
        );
        if (child.pid === undefined) throw new Error(`cannot start ${component.name}: /bin/sh could not be started`);
        child.unref();
        const record: ProcessRecord = {
            pid: child.pid,
            startTicks: startTicks(child.pid) ?? "gone",
            commandLine,
            startedAt: new Date().toISOString(),
        };
        writeFileAtomically(recordPath(layout, component.name), JSON.stringify(record));
    } finally {
        closeSync(log);
    }
}

/**
 * Stops a component and forgets it: SIGTERM, then SIGKILL.
 *
 * @param graceSeconds how long it may take to end by itself; default 5, 0 kills at once.
 */
export async function stopComponent(layout: NodeLayout, name: string, graceSeconds = 5): Promise<void> {
    const record = runningComponent(layout, name);
    if (record) await endProcesses([record.pid], graceSeconds);
    rmSync(recordPath(layout, name), { force: true });
}

/** Ends processes: SIGTERM, up to `graceSeconds` to comply, then SIGKILL. Returns when all are gone. */
export async function endProcesses(pids: readonly number[], graceSeconds: number): Promise<void> {
    const alive = new Map<number, string>();
    for (const pid of pids) {
        const ticks = startTicks(pid);
        if (ticks !== undefined) alive.set(pid, ticks);
    }
    const dropEnded = (): void => {
        for (const [pid, ticks] of alive) if (startTicks(pid) !== ticks) alive.delete(pid);
    };
    const signal = (name: NodeJS.Signals): void => {
        for (const pid of alive.keys()) {
            try {
                process.kill(pid, name);
            } catch {
                alive.delete(pid); // ended in between
            }
        }
    };
    if (graceSeconds > 0) signal("SIGTERM");
    for (const deadline = Date.now() + graceSeconds * 1000; alive.size > 0 && Date.now() < deadline; dropEnded()) {
        await pause(20);
    }
    for (const deadline = Date.now() + 10_000; alive.size > 0; dropEnded()) {
        if (Date.now() > deadline) throw new Error(`processes ${[...alive.keys()].join(", ")} survive SIGKILL`);
        signal("SIGKILL");
        await pause(20);
    }
}
