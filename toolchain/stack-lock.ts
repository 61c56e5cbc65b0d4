import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";

/**
 * The lock of an update in a file backend: a file with the id of the process. The locks of Pulumi's other backends are
 * not known here.
 */
interface StackLock {
    readonly file: string;
    readonly pid: number;
    readonly hostname: string;
}

const project = "chaos-shop";

/** Releases a stack's locks whose processes, on this machine, are gone: killed updates leave them. */
export function releaseStaleLocks(stack: string, env: NodeJS.ProcessEnv = process.env): void {
    for (const { file, pid } of locksHere(stack, env)) if (!isRunning(pid)) rmSync(file, { force: true });
}

/** A stack's locks of processes on this machine. */
function locksHere(stack: string, env: NodeJS.ProcessEnv): StackLock[] {
    const backend = fileBackendFolder(env);
    if (backend === undefined) return [];
    const folder = join(backend, ".pulumi", "locks", "organization", project, stack);
    if (!existsSync(folder)) return [];
    return readdirSync(folder)
        .flatMap((name) => readLock(join(folder, name)))
        .filter((lock) => lock.hostname === hostname());
}

/** None if the file is gone, or not yet written. */
function readLock(file: string): StackLock[] {
    try {
        return [{ ...(JSON.parse(readFileSync(file, "utf8")) as Omit<StackLock, "file">), file }];
    } catch {
        return [];
    }
}

/**
 * The folder of the file backend in use; undefined for another kind of backend. The environment comes before the login,
 * as in https://www.pulumi.com/docs/iac/concepts/state-and-backends/.
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

/** The backend of `pulumi login`; undefined or empty without a login. */
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
