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
/** How long the rest of a program's output may take after its end, in milliseconds. */
const outputMs = 200;

const running = new Set<number>();

/** A step's own variables, such as one with a kubeconfig, are left out: what a program prints would be stored. */
const ownVariable = /^(?:EXPERIMENT_|PULUMI_COMMAND_)/;

function withoutOwn(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
    return Object.fromEntries(Object.entries(env).filter(([name]) => !ownVariable.test(name)));
}

/**
 * Runs a program without a shell, in the current folder. When it ends, or at the signal, its whole process group is
 * killed, so that nothing of it is left.
 * @throws UnseenError if it cannot be started
 */
export async function runCommand(
    program: string,
    args: readonly string[],
    env: Record<string, string> | undefined,
    signal: AbortSignal,
): Promise<Ended> {
    // This comes first, because a signal that comes while the program starts would leave the program behind.
    if (expecting++ === 0) listen("on");
    let pid: number | undefined;
    const kill = () => pid !== undefined && killGroup(pid);
    signal.addEventListener("abort", kill, { once: true });
    try {
        // The leader of a group can be killed with all that it has started.
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
        // All processes of the group have ended.
    }
}

const endings = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
const killAll = () => running.forEach(killGroup);

/** Kills what runs when this process ends: another group gets none of the signals that this process gets. */
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
