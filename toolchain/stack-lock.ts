import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, hostname } from "node:os";
import { join, resolve } from "node:path";

/**
 * Releases a stack's locks whose processes, on this machine, are gone: killed updates leave them. In a file backend, a
 * lock is a file that names process and machine; the locks of Pulumi's other backends are not known here.
 */
export function releaseStaleLocks(stack: string, env: NodeJS.ProcessEnv = process.env): void {
    const backend = fileBackendFolder(env);
    if (backend === undefined) return;
    const folder = join(backend, ".pulumi", "locks", "organization", "chaos-shop", stack);
    if (!existsSync(folder)) return;
    for (const file of readdirSync(folder).map((name) => join(folder, name))) {
        const lock = readLock(file);
        if (lock?.hostname === hostname() && !isRunning(lock.pid)) rmSync(file, { force: true });
    }
}

/** Undefined if the file is gone, or not yet written. */
function readLock(file: string): { pid: number; hostname: string } | undefined {
    try {
        return JSON.parse(readFileSync(file, "utf8")) as { pid: number; hostname: string };
    } catch {
        return undefined;
    }
}

/**
 * The folder of the file backend in use; undefined for another kind of backend. The environment comes before the login,
 * as in https://www.pulumi.com/docs/iac/concepts/state-and-backends/.
 */
function fileBackendFolder(env: NodeJS.ProcessEnv): string | undefined {
    const url = env.PULUMI_BACKEND_URL || loginUrl(env);
    if (!url?.startsWith("file://")) return undefined;
    return resolve(
        url
            .slice("file://".length)
            .replace(/\?.*$/, "")
            .replace(/^~(?=\/|$)/, homedir()),
    );
}

/**
 * The backend of `pulumi login`; undefined or empty without a login. Looks where Pulumi keeps it, for which an empty
 * variable is not set (https://github.com/pulumi/pulumi/blob/v3.232.0/sdk/go/common/workspace/creds.go).
 */
export function loginUrl(env: NodeJS.ProcessEnv): string | undefined {
    const folder = env.PULUMI_CREDENTIALS_PATH || env.PULUMI_HOME || join(homedir(), ".pulumi");
    const credentials = join(folder, "credentials.json");
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
