import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ensureCgroups } from "./cgroups";
import { systemPath } from "./command";
import { type NodeLayout, writeFileAtomically } from "./layout";

/** A background program of the node. */
export interface Component {
    /** As in `status`; also the name of its log and record. */
    readonly name: string;
    readonly command: string;
    readonly args: readonly string[];
    /** In addition to PATH and HOME. */
    readonly environment?: Readonly<Record<string, string>>;
}

/** Recorded for each started component, to recognize its process later. */
export interface ProcessRecord {
    readonly pid: number;
    /** Start time in clock ticks since boot, from /proc: differs if the process id was reused. */
    readonly startTicks: string;
    readonly commandLine: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
    /** ISO 8601. */
    readonly startedAt: string;
}

/** Start time of a process in clock ticks since boot; undefined if it is gone or a zombie. */
function startTicks(pid: number): string | undefined {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
        // The second field is the name in parentheses, which may contain anything: count from the last parenthesis.
        const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        return fields[0] === "Z" ? undefined : fields[19];
    } catch {
        return undefined; // No such process.
    }
}

function recordPath(layout: NodeLayout, name: string): string {
    return join(layout.run, `${name}.json`);
}

export function logPath(layout: NodeLayout, name: string): string {
    return join(layout.logs, `${name}.log`);
}

/** A component's record, alive or not; undefined if it was stopped or never started. */
function readRecord(layout: NodeLayout, name: string): ProcessRecord | undefined {
    try {
        return JSON.parse(readFileSync(recordPath(layout, name), "utf8")) as ProcessRecord;
    } catch {
        return undefined; // Missing or incomplete.
    }
}

/** A component's record, if its process is alive. */
export function runningComponent(layout: NodeLayout, name: string): ProcessRecord | undefined {
    const record = readRecord(layout, name);
    return record && startTicks(record.pid) === record.startTicks ? record : undefined;
}

/** The names of the components with a record. */
export function recordedComponents(layout: NodeLayout): string[] {
    if (!existsSync(layout.run)) return [];
    return readdirSync(layout.run)
        .filter((file) => file.endsWith(".json"))
        .map((file) => file.slice(0, -".json".length));
}

/** The last lines of a component's log. */
export function logTail(layout: NodeLayout, name: string): string[] {
    try {
        return readFileSync(logPath(layout, name), "utf8").trimEnd().split("\n").slice(-12);
    } catch {
        return [];
    }
}

/** Whether it runs with this command line and environment. Paths of programs contain their hash. */
export function isCurrent(layout: NodeLayout, { name, command, args, environment }: Component): boolean {
    const record = runningComponent(layout, name);
    return (
        record !== undefined &&
        isDeepStrictEqual([record.commandLine, record.environment], [[command, ...args], environment])
    );
}

/**
 * Starts a component in the background, unless it already runs with the same command line and environment. One that
 * runs with others is stopped first.
 *
 * @param joinNamespaces a process whose network and mount namespaces it joins. @default none
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
            // The shell enters the cgroup before anything can fork. Each step is an exec: the process id stays.
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
            environment: component.environment,
            startedAt: new Date().toISOString(),
        };
        writeFileAtomically(recordPath(layout, component.name), JSON.stringify(record));
    } finally {
        closeSync(log);
    }
}

/**
 * Stops a component by SIGTERM, then SIGKILL, and removes its record.
 *
 * @param graceSeconds between the two signals; 0 kills at once.
 */
export async function stopComponent(layout: NodeLayout, name: string, graceSeconds = 5): Promise<void> {
    const record = runningComponent(layout, name);
    if (record) await endProcesses([record.pid], graceSeconds);
    rmSync(recordPath(layout, name), { force: true });
}

/** Ends processes by SIGTERM, then SIGKILL after `graceSeconds`. Resolves when all are gone. */
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
                alive.delete(pid); // Ended meanwhile.
            }
        }
    };
    if (graceSeconds > 0) signal("SIGTERM");
    for (const deadline = Date.now() + graceSeconds * 1000; alive.size > 0 && Date.now() < deadline; dropEnded()) {
        await sleep(20);
    }
    for (const deadline = Date.now() + 10_000; alive.size > 0; dropEnded()) {
        if (Date.now() > deadline) throw new Error(`processes ${[...alive.keys()].join(", ")} survive SIGKILL`);
        signal("SIGKILL");
        await sleep(20);
    }
}
