import { type ChildProcess, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { STOP_GRACE_MILLISECONDS } from "../plugin";
import type { CommandInputs } from "./inputs";

/** The output of a finished command, without the final newline. */
export interface Output {
    readonly stdout: string;
    readonly stderr: string;
}

/**
 * Runs a command and collects its output.
 *
 * The command leads its own process group. Cancellation ends the whole group: with SIGTERM, so the command can clean
 * up, and with SIGKILL after the grace period.
 *
 * @param command the last argument of the interpreter (default: `/bin/sh -c`).
 * @param previous the resource's previous output; passed as PULUMI_COMMAND_STDOUT and PULUMI_COMMAND_STDERR.
 * @param log receives each line of the streams that `inputs.logging` names.
 * @param cancelled ends the command when it aborts.
 * @throws an error with the exit code or signal, the command and its output, unless the exit code is 0.
 */
export async function runCommand(
    command: string,
    inputs: CommandInputs,
    previous: Output,
    log: (line: string) => void,
    cancelled: AbortSignal,
): Promise<Output> {
    const failed = (why: string, printed = "") => new Error(`${why}: running ${JSON.stringify(command)}:\n${printed}`);
    if (cancelled.aborted) throw failed("cancelled before it began");
    const interpreter = inputs.interpreter?.length ? inputs.interpreter : ["/bin/sh", "-c"];
    const [program = "/bin/sh", ...args] = [...interpreter, command];
    const child = spawn(program, args, {
        cwd: inputs.dir,
        env: environmentOf(inputs, previous),
        stdio: [inputs.stdin ? "pipe" : "ignore", "pipe", "pipe"],
        detached: true,
    });
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    const both: Buffer[] = [];
    collect(child.stdout!, [stdout, both]);
    collect(child.stderr!, [stderr, both]);
    if (logs("stdout", inputs.logging)) createInterface({ input: child.stdout! }).on("line", log);
    if (logs("stderr", inputs.logging)) createInterface({ input: child.stderr! }).on("line", log);
    // A command need not read its input; a broken pipe is no failure.
    child.stdin?.on("error", () => undefined).end(inputs.stdin);

    const cancel = () => terminateGroup(child);
    cancelled.addEventListener("abort", cancel, { once: true });
    try {
        const failure = await failureOf(child, inputs.dir);
        if (failure) throw failed(cancelled.aborted ? `cancelled, ${failure}` : failure, text(both));
    } finally {
        cancelled.removeEventListener("abort", cancel);
    }
    return { stdout: text(stdout).replace(/\n$/, ""), stderr: text(stderr).replace(/\n$/, "") };
}

function environmentOf(inputs: CommandInputs, previous: Output): NodeJS.ProcessEnv {
    const environment: NodeJS.ProcessEnv = { ...process.env, ...inputs.environment };
    if (inputs.addPreviousOutputInEnv ?? true) {
        if (previous.stdout) environment.PULUMI_COMMAND_STDOUT = previous.stdout;
        if (previous.stderr) environment.PULUMI_COMMAND_STDERR = previous.stderr;
    }
    return environment;
}

function logs(stream: "stdout" | "stderr", logging: string | undefined): boolean {
    return logging === undefined || logging === stream || logging === "stdoutAndStderr";
}

function collect(stream: Readable, buffers: Buffer[][]): void {
    stream.on("data", (chunk: Buffer) => buffers.forEach((buffer) => buffer.push(chunk)));
}

/** Why a process failed, after all that write to its output have ended; undefined if it succeeded. */
function failureOf(child: ChildProcess, dir: string | undefined): Promise<string | undefined> {
    return new Promise((resolve) => {
        child.on("error", (error: NodeJS.ErrnoException) => {
            // Node names the program even if the working directory is missing.
            resolve(error.code === "ENOENT" && dir ? `${error.message} (in the directory ${dir})` : error.message);
        });
        child.on("close", (code, signal) => {
            resolve(signal ? `signal: ${signal}` : code === 0 ? undefined : `exit status ${code}`);
        });
    });
}

function terminateGroup(child: ChildProcess): void {
    signalGroup(child, "SIGTERM");
    const kill = setTimeout(() => signalGroup(child, "SIGKILL"), STOP_GRACE_MILLISECONDS);
    child.once("close", () => clearTimeout(kill));
}

/** Signals every process of the group that a command leads. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
    if (child.pid === undefined) {
        return; // It never started.
    }
    try {
        process.kill(-child.pid, signal);
    } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
}

function text(buffers: readonly Buffer[]): string {
    return Buffer.concat(buffers).toString("utf8");
}
