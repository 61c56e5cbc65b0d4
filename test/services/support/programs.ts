import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { nodeOptions } from "../../../components/shop/http-service";
import { bundledFile } from "../../../toolchain/bundle";
import { freePort } from "./ports";
import { local, until } from "../../support/until";

export type ProgramName = "gateway" | "catalogue" | "orders" | "inventory";

/** Bundles a program into one file, as its pod mounts it. @returns the file's path */
export function bundle(name: ProgramName): string {
    return bundledFile(resolve(__dirname, "../../../services", name, `start-${name}.ts`));
}

/** A program of the shop in a process of its own. */
export interface RunningProgram {
    /** Its address, without a path. */
    url: string;
    /** Its standard output and standard error so far. */
    output(): string;
    /** Resident memory in megabytes. */
    residentMb(): number;
    /** Sends SIGTERM and resolves with the exit code. */
    stop(): Promise<number | null>;
    kill(): void;
}

/** Starts a bundled program with exactly this environment and a port, and waits until it listens. */
export async function startProgram(name: ProgramName, environment: Record<string, string>): Promise<RunningProgram> {
    const port = environment.PORT ?? String(await freePort());
    const { child, output, exited } = spawnProgram(name, { ...environment, PORT: port });
    await until(
        `${name} listens`,
        () => {
            if (child.exitCode !== null) {
                throw new Error(`${name} exited with ${child.exitCode}: ${output()}`);
            }
            return output().includes(`"msg":"${name} listens"`);
        },
        local,
    );
    return {
        url: `http://127.0.0.1:${port}`,
        output,
        residentMb: () => {
            const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
            return Number(kilobytes) / 1024;
        },
        stop: async () => {
            child.kill("SIGTERM");
            return exited;
        },
        kill: () => void child.kill("SIGKILL"),
    };
}

/** A program's log, line by line. Each line must be a JSON object. */
export const logOf = (program: RunningProgram) =>
    program
        .output()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);

/** Runs a program that exits by itself. */
export async function runToExit(name: ProgramName, environment: Record<string, string>) {
    const { output, exited } = spawnProgram(name, environment);
    return { code: await exited, output: output() };
}

function spawnProgram(name: ProgramName, environment: Record<string, string>) {
    const options = { env: environment, stdio: "pipe" } as const;
    const child: ChildProcess = spawn(process.execPath, [...nodeOptions, bundle(name)], options);
    let written = "";
    child.stdout!.on("data", (chunk) => (written += chunk));
    child.stderr!.on("data", (chunk) => (written += chunk));
    const exited = new Promise<number | null>((resolve) => child.once("close", (code) => resolve(code)));
    return { child, output: () => written, exited };
}
