import { execFile } from "node:child_process";

/** PATH of the administrator's programs (iptables, ipset, conntrack, mount), which a user's may lack. */
export const systemPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

interface CommandOptions {
    /** Text for standard input. @default none */
    readonly input?: string;
    /** @default that of this process */
    readonly cwd?: string;
}

/**
 * Runs a command and returns its exit code and output.
 *
 * @throws when the program cannot be started.
 */
export function tryCommand(
    command: string,
    args: readonly string[],
    { input, cwd }: CommandOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
    const env = { ...process.env, PATH: `${process.env.PATH ?? ""}:${systemPath}` };
    return new Promise((resolve, reject) => {
        const child = execFile(command, args, { cwd, env, maxBuffer: Infinity }, (error, stdout, stderr) => {
            // A text is the code of a system call: the program could not be started.
            if (typeof error?.code === "string") reject(new Error(`cannot run ${command}: ${error.message}`));
            else resolve({ code: error ? (error.code ?? 128) : 0, stdout, stderr });
        });
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
export async function runCommand(command: string, args: readonly string[], options?: CommandOptions): Promise<string> {
    const { code, stdout, stderr } = await tryCommand(command, args, options);
    if (code !== 0) {
        const said = (stderr.trim() || stdout.trim() || "it printed nothing").split("\n").slice(-10).join("\n  ");
        throw new Error(`\`${[command, ...args].join(" ")}\` ended with exit code ${code}:\n  ${said}`);
    }
    return stdout;
}
