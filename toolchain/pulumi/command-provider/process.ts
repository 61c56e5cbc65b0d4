import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { untilEnded } from "../plugin";
import type { CommandInputs } from "./inputs";

/** The output of a finished command, without the final newline. */
export interface Output {
    readonly stdout: string;
    readonly stderr: string;
}

/**
 * Runs a command with `/bin/sh -c` and collects its output.
 *
 * The command leads its own process group. Cancellation ends the whole group: with SIGTERM, so the command can clean
 * up, and with SIGKILL after the grace period.
 *
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
    const child = spawn("/bin/sh", ["-c", command], {
        env: {
            ...process.env,
            ...inputs.environment,
            ...(previous.stdout && { PULUMI_COMMAND_STDOUT: previous.stdout }),
            ...(previous.stderr && { PULUMI_COMMAND_STDERR: previous.stderr }),
        },
        stdio: ["pipe", "pipe", "pipe"],
        detached: true,
    });
    const stdout = textOf(child.stdout);
    const stderr = textOf(child.stderr);
    if (inputs.logging !== "stderr") createInterface({ input: child.stdout }).on("line", log);
    createInterface({ input: child.stderr }).on("line", log);
    // A command need not read its input; a broken pipe is no failure.
    child.stdin.on("error", () => undefined).end(inputs.stdin);

    const signalGroup = (signal: NodeJS.Signals) => {
        try {
            process.kill(-child.pid!, signal);
        } catch {
            // The group has ended, or never began.
        }
    };
    const failure = await untilEnded(child, failureOf(child), cancelled, "SIGTERM", signalGroup);
    if (failure) throw failed(cancelled.aborted ? `cancelled, ${failure}` : failure, stdout() + stderr());
    return { stdout: stdout().replace(/\n$/, ""), stderr: stderr().replace(/\n$/, "") };
}

function textOf(stream: Readable): () => string {
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    return () => Buffer.concat(chunks).toString("utf8");
}

/** Why a process failed, after all that write to its output have ended; undefined if it succeeded. */
function failureOf(child: ChildProcess): Promise<string | undefined> {
    return once(child, "close").then(
        ([code, signal]) => (signal ? `signal: ${signal}` : code === 0 ? undefined : `exit status ${code}`),
        (error: Error) => error.message,
    );
}
