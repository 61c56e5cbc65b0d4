import { spawn } from "node:child_process";

export interface CommandResult {
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
}

/** Where the node's parts and their helpers (iptables, ipset, conntrack, mount) are looked for. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Runs a command to its end and gives its output, whatever its exit code.
 *
 * @param input text for its standard input; none by default.
 * @throws when the program cannot be started at all.
 */
export function tryCommand(command: string, args: readonly string[], input?: string): Promise<CommandResult> {
    return new Promise((resolve, reject) => {
        const child = spawn(command, args, {
            stdio: [input === undefined ? "ignore" : "pipe", "pipe", "pipe"],
            env: { ...process.env, PATH: `${process.env.PATH ?? ""}:${systemPath}` },
        });
        let stdout = "";
        let stderr = "";
        child.stdout!.setEncoding("utf8").on("data", (text: string) => (stdout += text));
        child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text));
        child.on("error", (error) => reject(new Error(`cannot run ${command}: ${error.message}`)));
        child.on("close", (code, signal) => resolve({ code: code ?? (signal ? 128 : 1), stdout, stderr }));
        child.stdin?.on("error", () => undefined); // a command that ends without reading its input says why itself
        child.stdin?.end(input);
    });
}

/**
 * Runs a command that must succeed.
 *
 * @returns its standard output.
 * @throws an error with the whole command line and what it printed.
 */
export async function runCommand(command: string, args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await tryCommand(command, args, input);
    if (code !== 0) {
        const said = (stderr.trim() || stdout.trim() || "it printed nothing").split("\n").slice(-10).join("\n  ");
        throw new Error(`\`${[command, ...args].join(" ")}\` ended with exit code ${code}:\n  ${said}`);
    }
    return stdout;
}

/** Waits for so many milliseconds. */
export function pause(milliseconds: number): Promise<void> {
    return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
