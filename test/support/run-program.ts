import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { project } from "../../cli/stack-file";

/** Runs one of the programs of `npm run`. */
export const runProgram = (name: string, args: readonly string[], env: NodeJS.ProcessEnv) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
        const command = ["--import", "tsx", `cli/${name}.ts`, ...args];
        execFile(process.execPath, command, { cwd: project, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
            resolve({ code: error?.code ?? 0, stdout, stderr }),
        );
    });

/** Runs any program. @throws Error with what it printed: compilers report mistakes on standard output */
export async function run(command: string, args: string[], options: { cwd: string; env?: NodeJS.ProcessEnv }) {
    try {
        return await promisify(execFile)(command, args, { ...options, maxBuffer: 1 << 26 });
    } catch (error) {
        const { message, stdout } = error as Error & { stdout: string };
        throw new Error(`${message}\n${stdout}`, { cause: error });
    }
}
