import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { ensureCgroups } from "./cgroups";
import { systemPath } from "../../toolchain/run-command";
import { layout, writeFileAtomically } from "./layout";
import { firstNode, type SandboxNode } from "./nodes";

export interface Component {
    /** As in `status`; also the name of its log and record. On the second node it ends in `-2`. */
    readonly name: string;
    /** In whose namespaces it runs. @default the first */
    readonly node?: SandboxNode;
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

const recordPath = (name: string) => join(layout.run, `${name}.json`);
export const logPath = (name: string) => join(layout.logs, `${name}.log`);

/** A component's record, if its process is alive. */
export function runningComponent(name: string): ProcessRecord | undefined {
    try {
        const record = JSON.parse(readFileSync(recordPath(name), "utf8")) as ProcessRecord;
        return startTicks(record.pid) === record.startTicks ? record : undefined;
    } catch {
        return undefined; // Missing or incomplete: it was stopped, or never started.
    }
}

export function recordedComponents(): string[] {
    if (!existsSync(layout.run)) return [];
    return readdirSync(layout.run)
        .filter((file) => file.endsWith(".json"))
        .map((file) => file.slice(0, -".json".length));
}

/** The last lines of a component's log. If it crashed, those from the reason on: its stacks are thousands of lines. */
export function logTail(name: string): string[] {
    try {
        return tellingLines(readFileSync(logPath(name), "utf8"));
    } catch {
        return [];
    }
}

const linesShown = 12;

/** A crash begins with a line of Go's runtime, or with a fatal one of klog: F and the date. */
export function tellingLines(log: string): string[] {
    const lines = log.trimEnd().split("\n");
    const crash = lines.findLastIndex((line) => /^(panic|fatal error|SIG[A-Z]+): |^F\d{4} /.test(line));
    return crash < 0 ? lines.slice(-linesShown) : lines.slice(crash, crash + linesShown);
}

/** Whether it runs with this command line and environment. Paths of programs contain their hash. */
export function isCurrent({ name, command, args, environment }: Component): boolean {
    const { commandLine, environment: has } = runningComponent(name) ?? {};
    return isDeepStrictEqual([commandLine, has], [[command, ...args], environment]);
}

/** The process that holds the namespaces of a node while its components start and stop. */
export const namespaceHolder = ({ suffix }: SandboxNode = firstNode) => `namespaces${suffix}`;

/** The process id of a node's namespace holder. @throws if the sandbox is not up */
export function holderPid(node = firstNode): number {
    const holder = runningComponent(namespaceHolder(node));
    if (!holder) throw new Error("the sandbox is not up; run `npm run sandbox -- up`");
    return holder.pid;
}

/**
 * Starts a component in the background, in the node's network and mount namespaces, unless it already runs with the
 * same command line and environment. One that runs with others is stopped first.
 */
export async function startComponent(component: Component): Promise<void> {
    if (isCurrent(component)) return;
    await stopComponent(component.name);
    mkdirSync(layout.logs, { recursive: true, mode: 0o700 });
    const { node = firstNode } = component;
    const isHolder = component.name === namespaceHolder(node);
    const join = isHolder ? [] : ["nsenter", `--target=${holderPid(node)}`, "--net", "--mount"];
    const path = logPath(component.name);
    if (existsSync(path)) renameSync(path, `${path}.previous`);
    const log = openSync(path, "a", 0o600);
    const { command, args, environment } = component;
    const commandLine = [command, ...args];
    // The shell enters the cgroup before anything can fork. Each step is an exec: the process id stays.
    const entering = ["-c", 'echo $$ > "$0" && exec "$@"', ensureCgroups(), ...join, ...commandLine];
    const env = { PATH: systemPath, HOME: "/root", ...environment };
    try {
        const child = spawn("/bin/sh", entering, { detached: true, stdio: ["ignore", log, log], cwd: "/", env });
        if (child.pid === undefined) throw new Error(`cannot start ${component.name}: /bin/sh could not be started`);
        child.unref();
        const record: ProcessRecord = {
            pid: child.pid,
            startTicks: startTicks(child.pid) ?? "gone",
            commandLine,
            environment,
            startedAt: new Date().toISOString(),
        };
        writeFileAtomically(recordPath(component.name), JSON.stringify(record));
    } finally {
        closeSync(log);
    }
}

/**
 * Stops a component by SIGTERM, then SIGKILL, and removes its record.
 *
 * @param graceSeconds between the two signals; 0 kills at once.
 */
export async function stopComponent(name: string, graceSeconds = 5): Promise<void> {
    const record = runningComponent(name);
    if (record) await endProcesses([record.pid], graceSeconds);
    rmSync(recordPath(name), { force: true });
}

/** Ends processes by SIGTERM, then SIGKILL after `graceSeconds`. Resolves when all are gone. */
export async function endProcesses(pids: readonly number[], graceSeconds: number): Promise<void> {
    const begun = new Map(pids.map((pid) => [pid, startTicks(pid)]));
    const alive = () => pids.filter((pid) => begun.get(pid) !== undefined && startTicks(pid) === begun.get(pid));
    const signal = (name: NodeJS.Signals): void => {
        for (const pid of alive()) {
            try {
                process.kill(pid, name);
            } catch {
                // Ended meanwhile.
            }
        }
    };
    if (graceSeconds > 0) signal("SIGTERM");
    for (const until = Date.now() + graceSeconds * 1000; alive().length > 0 && Date.now() < until;) await sleep(20);
    for (const until = Date.now() + 10_000; alive().length > 0; await sleep(20)) {
        if (Date.now() > until) throw new Error(`processes ${alive().join(", ")} survive SIGKILL`);
        signal("SIGKILL");
    }
}
