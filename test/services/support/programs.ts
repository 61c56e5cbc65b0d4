import { spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { nodeOptions } from "../../../components/shop/nodeOptions";
import { bundledFile } from "../../../shared/bundle";
import { eventually, freePort } from "./ports";

export type ProgramName = "gateway" | "catalogue" | "orders" | "inventory";

/** Bundles a program into one file, as it is mounted into its pod, and says where that file is. */
export function bundle(name: ProgramName): string {
    return bundledFile(resolve(__dirname, "../../../services", name, "main.ts"));
}

/** A program of the shop in a process of its own. */
export interface RunningProgram {
    /** Its address, without a path. */
    url: string;
    /** What it wrote so far to standard output and standard error. */
    output(): string;
    /** Resident memory in megabytes. */
    residentMb(): number;
    /** Sends SIGTERM and resolves with the exit code and how long that took. */
    stop(): Promise<{ code: number | null; durationMs: number }>;
    kill(): void;
}

/** Starts a bundled program with this environment and nothing else of ours, and waits until it listens. */
export async function startProgram(name: ProgramName, environment: Record<string, string>): Promise<RunningProgram> {
    const port = environment.PORT ?? String(await freePort());
    const { child, output, exited } = spawnProgram(name, { ...environment, PORT: port });
    await eventually(`${name} listens`, () => {
        if (child.exitCode !== null) {
            throw new Error(`${name} exited with ${child.exitCode}: ${output()}`);
        }
        return output().includes(`"msg":"${name} listens"`);
    });
    return {
        url: `http://127.0.0.1:${port}`,
        output,
        residentMb: () => {
            const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1];
            return Number(kilobytes) / 1024;
        },
        stop: async () => {
            const start = performance.now();
            child.kill("SIGTERM");
            return { code: await exited, durationMs: performance.now() - start };
        },
        kill: () => void child.kill("SIGKILL"),
    };
}

/** Starts a program that is expected to end by itself. */
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
