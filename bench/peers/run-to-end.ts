import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";

/** Reading the rest of what was printed takes less, in milliseconds. A process that is left may keep the pipe open. */
const restMs = 100;

/** How a tool is asked the question. */
export interface Command {
    command: string;
    args: readonly string[];
    cwd: string;
}

export interface Ended {
    /** The exit code; null if it was killed. */
    code: number | null;
    printed: string;
}

/** Runs a command to its end. @param begun gets its process id */
export async function runToEnd({ command, args, cwd }: Command, begun?: (pid: number) => void): Promise<Ended> {
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    begun?.(child.pid!);
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (printed += String(text)));
    const closed = once(child, "close").catch(() => undefined);
    const [code] = (await once(child, "exit")) as [number | null];
    await Promise.race([closed, sleep(restMs)]);
    return { code, printed };
}
