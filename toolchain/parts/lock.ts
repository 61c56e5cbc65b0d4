import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Does work under an exclusive lock, once that is free.
 *
 * The kernel holds the lock (`flock`), not the existence of the file: it is freed when the process ends, however it
 * ends, and nothing has to be cleaned up by hand. A child of this process holds it; the child ends with this process,
 * because its standard input is then closed. The file contains the process id, for people.
 *
 * @param file the lock file; its folder is created.
 * @param onWait called once with the holder's process id, if another process holds the lock.
 * @throws if the `flock` command of util-linux cannot be run.
 */
export async function withLock<Result>(
    file: string,
    onWait: (holderPid: string) => void,
    work: () => Promise<Result>,
): Promise<Result> {
    mkdirSync(dirname(file), { recursive: true });
    let holder = await lock(file, "--nonblock", "--conflict-exit-code", String(TAKEN));
    if (!holder) {
        onWait(readFileSync(file, "utf8").trim() || "unknown");
        holder = (await lock(file))!;
    }
    writeFileSync(file, `${process.pid}\n`);
    const ended = once(holder, "exit");
    try {
        return await work();
    } finally {
        holder.ref();
        holder.stdin?.end();
        await ended;
    }
}

/** The exit status of `flock` for a taken lock; any other status is a failure. */
const TAKEN = 75;

/** @returns undefined if the lock is taken, and `options` say not to wait for it */
function lock(file: string, ...options: string[]): Promise<ChildProcess | undefined> {
    // Detached: Ctrl-C at the terminal must not free the lock before this process has cleaned up.
    const args = [...options, file, "sh", "-c", "echo held; exec cat"];
    const child = spawn("flock", args, { detached: true, stdio: ["pipe", "pipe", "inherit"] });
    return new Promise((resolve, reject) => {
        child.stdout.once("data", () => {
            // The lock must not keep this process alive.
            child.unref();
            for (const stream of [child.stdin, child.stdout]) (stream as unknown as { unref(): void }).unref();
            resolve(child);
        });
        child.once("error", (error) => reject(new Error(`cannot lock ${file}: ${error.message}`)));
        child.once("exit", (status) => {
            if (status === TAKEN) resolve(undefined);
            else reject(new Error(`cannot lock ${file}: flock ended with status ${status}`));
        });
    });
}
