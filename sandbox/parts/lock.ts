import { type ChildProcess, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

/** A lock that this process holds. */
export interface Lock {
    /** Lets the next one in, this process's own next try among them. */
    release(): Promise<void>;
}

/**
 * Takes a lock that no two processes hold at once, waiting for whoever holds it.
 *
 * The kernel keeps it (`flock`), not the file's being there: when its holder ends, however it ends, the lock is free,
 * so that nothing is ever to be cleaned up by hand. A child of this process holds it, and ends when this process does
 * because its standard input is then closed. The file says the holder's process id, for people.
 *
 * @param file the lock file; its folder is made.
 * @param onWait hears once who holds the lock, if somebody does.
 * @throws if the `flock` command of util-linux cannot be run.
 */
export async function takeLock(file: string, onWait: (holderPid: string) => void): Promise<Lock> {
    mkdirSync(dirname(file), { recursive: true });
    for (let told = false; ; told = true) {
        const holder = await tryLock(file);
        if (holder) {
            writeFileSync(file, `${process.pid}\n`);
            const ended = new Promise<void>((resolve) => holder.once("exit", () => resolve()));
            return {
                release: () => {
                    holder.ref();
                    holder.stdin?.end();
                    return ended;
                },
            };
        }
        if (!told) onWait(readFileSync(file, "utf8").trim() || "unknown");
        await sleep(500);
    }
}

/** The exit status by which `flock` says that the lock is taken; any other is a failure of its own. */
const TAKEN = 75;

function tryLock(file: string): Promise<ChildProcess | undefined> {
    // Detached, so that a Ctrl-C at the terminal does not free the lock before this process is done cleaning up.
    const args = ["--nonblock", "--conflict-exit-code", String(TAKEN), file, "sh", "-c", "echo held; exec cat"];
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
