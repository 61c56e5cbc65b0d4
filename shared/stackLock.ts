import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";

/**
 * The lock that an update holds in a file backend: a file that names the process that took it. Pulumi's other backends
 * keep locks of their own, of which nothing is known here.
 */
interface StackLock {
    readonly file: string;
    readonly pid: number;
    readonly hostname: string;
}

const project = "chaos-shop";

/**
 * Has the lock of the update that runs the calling program released should that update be killed: the next `pulumi up`
 * would be refused otherwise, before any program has begun. A shell of a session of its own waits for the process that took
 * the lock, which nothing that ends that process reaches. An update that ends by itself has removed the lock before.
 *
 * The first second of an update, before its program begins, is not covered, nor is a machine that goes down as a whole.
 */
export function releaseLockIfKilled(stack: string, env: NodeJS.ProcessEnv = process.env): void {
    for (const { file, pid } of locksHere(stack, env)) {
        const wait = 'while kill -0 "$0" 2>/dev/null; do sleep 0.5; done; rm -f -- "$1"';
        const shell = spawn("/bin/sh", ["-c", wait, String(pid), file], { cwd: "/", detached: true, stdio: "ignore" });
        shell.on("error", () => undefined); // Where there is no such shell the lock stays, as it does without this.
        shell.unref();
    }
}

/** Releases the locks of a stack whose processes, of this machine, are gone: nobody else is going to. */
export function releaseStaleLocks(stack: string, env: NodeJS.ProcessEnv = process.env): void {
    for (const { file, pid } of locksHere(stack, env)) if (!isRunning(pid)) rmSync(file, { force: true });
}

/** The locks of a stack that processes of this machine have taken. */
function locksHere(stack: string, env: NodeJS.ProcessEnv): StackLock[] {
    const backend = fileBackendFolder(env);
    if (backend === undefined) return [];
    const folder = join(backend, ".pulumi", "locks", "organization", project, stack);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
        .flatMap((name) => readLock(join(folder, name)))
        .filter((lock) => lock.hostname === hostname());
}

/** No lock where the file is gone again, or not yet written. */
function readLock(file: string): StackLock[] {
    try {
        return [{ ...(JSON.parse(readFileSync(file, "utf8")) as Omit<StackLock, "file">), file }];
    } catch {
        return [];
    }
}

/**
 * The folder of the file backend that Pulumi would use; undefined where it is another's. The environment comes before the
 * login, as in https://www.pulumi.com/docs/iac/concepts/state-and-backends/.
 */
function fileBackendFolder(env: NodeJS.ProcessEnv): string | undefined {
    const url = env.PULUMI_BACKEND_URL ?? loginUrl(env);
    if (!url?.startsWith("file://")) return undefined;
    return resolve(
        url
            .slice("file://".length)
            .replace(/\?.*$/, "")
            .replace(/^~(?=\/|$)/, homedir()),
    );
}

/** The backend that `pulumi login` has chosen; undefined, or empty, where nobody has logged in. */
export function loginUrl(env: NodeJS.ProcessEnv): string | undefined {
    const credentials = join(env.PULUMI_HOME ?? join(homedir(), ".pulumi"), "credentials.json");
    if (!existsSync(credentials)) return undefined;
    return (JSON.parse(readFileSync(credentials, "utf8")) as { current?: string }).current;
}

function isRunning(pid: number): boolean {
    try {
        process.kill(pid, 0);
        return true;
    } catch (error) {
        return (error as NodeJS.ErrnoException).code === "EPERM";
    }
}
