import { spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { createInterface } from "node:readline";

/** Receives the output of a build's commands. */
export interface BuildLog {
    /** The log file; commands append to it. */
    readonly file: string;
    /** Called with every line, for progress. */
    readonly onLine: (line: string) => void;
    readonly ended?: AbortSignal;
}

export interface RunOptions {
    readonly cwd?: string;
    /** Added to this process's environment; `undefined` takes a variable out. */
    readonly env?: NodeJS.ProcessEnv;
    /** The command is then terminated and fails. @default no limit */
    readonly timeoutMs?: number;
    /** The command continues when this process is killed: for one that does harm when interrupted. @default false */
    readonly outlivesUs?: boolean;
}

/** A command failed. The message contains its last lines. */
class CommandError extends Error {
    constructor(command: string, reason: string, lastLines: readonly string[]) {
        const tail = lastLines.map((line) => `\n    ${line}`).join("");
        super(`\`${command}\` ${reason}${tail && `; its last lines:${tail}`}`);
    }
}

/** The lines of a failed command that its error shows. */
const LINES_SHOWN = 20;

/**
 * Runs a command of a build. Its output goes to the log. It ends when this process ends, even by SIGKILL
 * (`setpriv --pdeathsig`, in util-linux, which every Debian has): no build continues unattended.
 *
 * @returns the command's standard output.
 * @throws {CommandError} when it cannot be started, fails, or is ended.
 */
export async function run(
    command: string,
    args: readonly string[],
    log: BuildLog,
    options: RunOptions = {},
): Promise<string> {
    const shown = [command, ...args].join(" ");
    mkdirSync(dirname(log.file), { recursive: true });
    appendFileSync(log.file, `$ ${shown}\n`);
    const descriptor = openSync(log.file, "a");
    const lastLines: string[] = [];
    const output: string[] = [];
    const [program, ...words] = options.outlivesUs ? [command] : ["setpriv", "--pdeathsig", "TERM", command];
    const child = spawn(program, [...words, ...args], {
        cwd: options.cwd,
        env: { ...process.env, LC_ALL: "C.UTF-8", ...options.env },
        stdio: ["ignore", "pipe", "pipe"],
        signal: options.outlivesUs ? undefined : log.ended,
        timeout: options.timeoutMs,
    });
    const take = (line: string) => {
        writeSync(descriptor, `${line}\n`);
        lastLines.push(line);
        if (lastLines.length > LINES_SHOWN) lastLines.shift();
        log.onLine(line);
    };
    createInterface({ input: child.stdout }).on("line", (line) => (output.push(line), take(line)));
    createInterface({ input: child.stderr }).on("line", take);
    try {
        const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
        const [status, signal] = await closed.catch(({ message }: Error) => {
            throw new CommandError(shown, `could not be started (${message})`, []);
        });
        if (status !== 0) {
            const end = signal ? `was ended by ${signal}` : `failed with exit status ${status}`;
            throw new CommandError(shown, end, lastLines);
        }
    } finally {
        closeSync(descriptor);
    }
    return output.join("\n");
}
