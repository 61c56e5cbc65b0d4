import { execFile, type ExecFileException } from "node:child_process";
import { promisify } from "node:util";
import { withoutCredentials } from "../values/credentials";
import { parseJson } from "../values/json";
import { onOneLine, quoted } from "../values/quoted";

/** The field `exec` of a kubeconfig's user: how to run a program that gives credentials. */
export interface ExecPlugin {
    apiVersion?: string;
    command?: string;
    args?: string[] | null;
    env?: { name: string; value: string }[] | null;
    installHint?: string;
    interactiveMode?: string;
    provideClusterInfo?: boolean;
}

/** The status of an ExecCredential. */
interface Credentials {
    token?: string;
    clientCertificateData?: string;
    clientKeyData?: string;
    expirationTimestamp?: string;
}

interface Run {
    begun: number;
    given: Promise<Credentials>;
}

/** Time limit of a run: a plugin may wait for a person who logs in with a browser. */
const timeoutMs = 120_000;

/** The last run of each plugin of this process, by all that it is told. */
const runs = new Map<string, Run>();

/**
 * What a plugin gives. As by kubectl, it is kept until it expires or this process ends: plugins may take seconds. Calls
 * that come together share a run.
 *
 * @param who the plugin in an error
 * @param cluster what a plugin with `provideClusterInfo` is told
 * @throws Error that says why there are no credentials, without any
 */
export async function credentialsOf(who: string, plugin: ExecPlugin, cluster?: object): Promise<Credentials> {
    const spec = { interactive: false, cluster };
    const info = JSON.stringify({ apiVersion: plugin.apiVersion, kind: "ExecCredential", spec });
    const key = JSON.stringify([plugin, info]);
    const last = runs.get(key);
    const kept = await last?.given.catch(() => undefined);
    // If there is no expiry, the comparison is false.
    const isOver = kept === undefined || Date.parse(kept.expirationTimestamp!) <= Date.now();
    if (!isOver) return kept;
    // Another call may have begun a run meanwhile.
    if ([last, undefined].includes(runs.get(key))) runs.set(key, { begun: Date.now(), given: run(who, plugin, info) });
    return runs.get(key)!.given;
}

/**
 * Forgets what plugins gave, if runs that began before a moment gave it: the API server rejects it.
 *
 * @returns whether this process has plugins, so that a call with new credentials may succeed
 */
export function forgetCredentials(before: number): boolean {
    const hasPlugins = runs.size > 0;
    for (const [key, { begun }] of runs) if (begun <= before) runs.delete(key);
    return hasPlugins;
}

async function run(who: string, plugin: ExecPlugin, info: string): Promise<Credentials> {
    const env = Object.fromEntries((plugin.env ?? []).map(({ name, value }) => [name, value]));
    const running = promisify(execFile)(plugin.command!, plugin.args ?? [], {
        env: { ...process.env, ...env, KUBERNETES_EXEC_INFO: info },
        timeout: timeoutMs,
    });
    running.child.stdin?.end();
    const { stdout } = await running.catch((error: ExecFileException) => {
        throw new Error(`${who} ${failureOf(error, plugin)}`);
    });
    const { status } = (parseJson(stdout) ?? {}) as { status?: Credentials };
    if (status?.token || status?.clientCertificateData) return status;
    throw new Error(`${who} gives no ExecCredential with a token or a client certificate`);
}

const maxReasonLength = 500;

/** Why a plugin gave nothing, with the end of what it says to people. */
function failureOf({ code, killed, stderr }: ExecFileException, { installHint }: ExecPlugin): string {
    if (code === "ENOENT")
        return `is not installed${installHint ? `. The kubeconfig says: ${quoted(installHint)}` : ""}`;
    if (typeof code === "string") return `cannot be run: ${code}`;
    const how = killed ? `did not end within ${timeoutMs / 1_000} s` : `failed with exit code ${code}`;
    const said = onOneLine(withoutCredentials((stderr ?? "").slice(-8 * maxReasonLength)), Infinity);
    return said === "" ? how : `${how}: ${quoted(said.slice(-maxReasonLength))}`;
}
