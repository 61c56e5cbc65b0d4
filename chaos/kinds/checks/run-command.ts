import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { UnseenError } from "./answer";

export interface Ended {
    exitCode?: number;
    /** Set if a signal ended it, such as `SIGSEGV`. */
    signal?: string;
    /** The last line of its output, standard error included, that is not blank. */
    lastLine: string;
}

const keptLength = 4_096;
/** How long the output of a program that has ended may be missing, in milliseconds. */
const outputMs = 200;

const running = new Set<number>();

/** What a step is given, a kubeconfig perhaps: what a program prints of it would be stored. */
const ownVariable = /^(?:EXPERIMENT_|PULUMI_COMMAND_)/;

function withoutOwn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    return Object.fromEntries(Object.entries(env).filter(([name]) => !ownVariable.test(name)));
}

/**
 * Runs a program without a shell, in the current folder. When it ends, or when the signal is given, its whole process
 * group is killed: nothing of it is left.
 *
 * @throws UnseenError if it cannot be started
 */
export async function runCommand(
    program: string,
    args: readonly string[],
    env: Record<string, string> | undefined,
    signal: AbortSignal,
): Promise<Ended> {
    // Before the program is there: a signal that comes while it starts would leave it behind.
    if (expecting++ === 0) listen("on");
    let pid: number | undefined;
    const kill = () => pid !== undefined && killGroup(pid);
    signal.addEventListener("abort", kill, { once: true });
    try {
        // As the leader of a group it can be killed with all that it started.
        const child = spawn(program, args, {
            detached: true,
            env: { ...withoutOwn(process.env), ...env },
            stdio: ["ignore", "pipe", "pipe"],
        });
        ({ pid } = child);
        if (pid !== undefined) running.add(pid);
        let output = "";
        const keep = (text: string) => (output = (output + text).slice(-keptLength));
        child.stdout.setEncoding("utf8").on("data", keep);
        child.stderr.setEncoding("utf8").on("data", keep);
        const closed = new Promise<void>((resolve) => child.once("close", () => resolve()));
        const how = await new Promise<Pick<Ended, "exitCode" | "signal">>((resolve, reject) => {
            child.once("error", (error) => reject(notStarted(program, error)));
            child.once("exit", (code, by) => resolve({ exitCode: code ?? undefined, signal: by ?? undefined }));
        });
        kill();
        await Promise.race([closed, sleep(outputMs)]);
        return { ...how, lastLine: lastLineOf(output) };
    } finally {
        signal.removeEventListener("abort", kill);
        if (pid !== undefined) running.delete(pid);
        if (--expecting === 0) listen("off");
    }
}

const lastLineOf = (output: string) =>
    output
        .trimEnd()
        .split(/[\r\n]+/)
        .at(-1) ?? "";

function notStarted(program: string, { code, message }: NodeJS.ErrnoException): UnseenError {
    const reasons: Record<string, string> = {
        ENOENT:
            "it, or the interpreter that its first line names, does not exist. Name a file from the folder of the " +
            "update, as in ./check.sh, or a program in PATH",
        EACCES: `it is not executable; run: chmod +x ${program}`,
    };
    return new UnseenError(`${program} cannot be started: ${reasons[code ?? ""] ?? message}`);
}

function killGroup(pid: number): void {
    try {
        process.kill(-pid, "SIGKILL");
    } catch {
        // All of it has ended.
    }
}

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const killAll = () => running.forEach(killGroup);

/** Kills what runs when this process ends: a group of its own gets none of the signals that this process gets. */
function onEnding(signal: NodeJS.Signals): void {
    killAll();
    for (const one of endings) process.off(one, onEnding);
    // Without this listener the signal has its usual effect, unless the program listens to it.
    if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
}

let expecting = 0;

function listen(change: "on" | "off"): void {
    for (const one of endings) process[change](one, onEnding);
    process[change]("exit", killAll);
}
