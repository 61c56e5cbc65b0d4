import { execFile } from "node:child_process";
import { project } from "../../cli/stack-file";

/** Runs one of the programs of `npm run`. */
export const runProgram = (name: string, args: readonly string[], env: NodeJS.ProcessEnv) =>
    new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
        const command = ["--import", "tsx", `cli/${name}.ts`, ...args];
        execFile(process.execPath, command, { cwd: project, env, maxBuffer: 1 << 26 }, (error, stdout, stderr) =>
            resolve({ code: error?.code ?? 0, stdout, stderr }),
        );
    });
