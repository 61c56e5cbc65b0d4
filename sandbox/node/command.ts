import { spawn } from "node:child_process";

export interface CommandResult {
    readonly code: number;
    readonly stdout: string;
    readonly stderr: string;
}

/** PATH of the node's programs and their helpers (iptables, ipset, conntrack, mount). */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/**
 * Runs a command and returns its exit code and output.
 *
 * @param input text for standard input. @default none
 * @throws when the program cannot be started.
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
        child.stdin?.on("error", () => undefined); // Reported by the command itself.
        child.stdin?.end(input);
    });
}

/**
 * Runs a command that must succeed.
 *
 * @returns its standard output.
 * @throws an error with the command line and the output.
 */
export async function runCommand(command: string, args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await tryCommand(command, args, input);
    if (code !== 0) {
        const said = (stderr.trim() || stdout.trim() || "it printed nothing").split("\n").slice(-10).join("\n  ");
        throw new Error(`\`${[command, ...args].join(" ")}\` ended with exit code ${code}:\n  ${said}`);
    }
    return stdout;
}
