/** How a kubeconfig's user logs in to its cluster: what each request says, and over which connections. */
import { existsSync, readFileSync } from "node:fs";
import type { Agent, RequestOptions } from "node:http";
import type { AgentOptions } from "node:https";
import { getDefaultAutoSelectFamilyAttemptTimeout } from "node:net";
import type { SecureContextOptions } from "node:tls";
import { tokenOf } from "./auth-providers";
import { credentialsOf } from "./exec-plugin";
import type { ClusterEntry, Kubeconfig, UserEntry } from "./kubeconfig";
import type { Destination } from "./request";
import { agentFor } from "./tunnel";

type Credentials = Pick<SecureContextOptions, "cert" | "key"> & { authorization?: string };

/**
 * Where the current context leads, with credentials as they are now: files are read again, and plugins are run when
 * what they gave has expired.
 *
 * @param agent connections to use. @default new ones
 */
export async function destinationOf(
    kubeconfig: Kubeconfig,
    { agent, attemptTimeoutMs = addressTimeoutMs() }: { agent?: Agent; attemptTimeoutMs?: number } = {},
): Promise<Destination> {
    const { user: name } = kubeconfig.getContextObject(kubeconfig.getCurrentContext()) ?? {};
    const cluster = kubeconfig.getCurrentCluster()!;
    const user = kubeconfig.getUser(name) ?? {};
    // Like kubectl, this sends no credentials without TLS.
    const hasTls = cluster.server.startsWith("https:");
    const { authorization, cert, key } = hasTls ? await credentials(name!, user, cluster) : {};
    const options: RequestOptions & SecureContextOptions & AddressOptions & { servername?: string } = {
        headers: {
            ...(authorization !== undefined && { authorization }),
            ...impersonation(user),
        },
        autoSelectFamilyAttemptTimeout: attemptTimeoutMs,
        ...(hasTls && {
            ca: contentOf(cluster["certificate-authority"], cluster["certificate-authority-data"]),
            ...(cluster["insecure-skip-tls-verify"] === true && { rejectUnauthorized: false }),
            ...(cluster["tls-server-name"] && { servername: cluster["tls-server-name"] }),
            cert,
            key,
        }),
    };
    return { server: cluster.server, options: { ...options, agent: agent ?? connectionsTo(kubeconfig) } };
}

/** Connections to the server of the current context, through its proxy if it has one. */
export function connectionsTo(kubeconfig: Kubeconfig, options: AgentOptions = {}): Agent {
    const { server, proxyUrl } = kubeconfig.getCurrentCluster()!;
    return agentFor(server, proxyUrl, options);
}

/**
 * How long an address may take to accept a connection before the next one of the same host is tried, in milliseconds.
 * By itself, Node.js waits 250 ms, and fails if no other address accepts it. A handshake takes one round trip, and a
 * second more if a packet is lost. An address that is dead must leave time for the next one.
 *
 * @param timeoutMs the time limit of the answer, which takes up to four round trips. @default a long one
 */
export const addressTimeoutMs = (timeoutMs = Infinity): number =>
    Math.max(getDefaultAutoSelectFamilyAttemptTimeout(), Math.min(1_500, timeoutMs / 4));

/** An option of connections that the types of requests lack. */
export interface AddressOptions {
    autoSelectFamilyAttemptTimeout?: number;
}

const bearing = (token: string) => ({ authorization: `Bearer ${token}` });

/** Of several ways to log in, kubectl takes the first of these. */
async function credentials(name: string, user: UserEntry, cluster: ClusterEntry): Promise<Credentials> {
    const cert = contentOf(user["client-certificate"], user["client-certificate-data"]);
    const key = contentOf(user["client-key"], user["client-key-data"]);
    const own = { ...(cert && { cert }), ...(key && { key }) };
    const { tokenFile, token, exec, "auth-provider": provider, username, password } = user;
    if (tokenFile) return { ...own, ...bearing(tokenIn(tokenFile, token, name)) };
    if (token) return { ...own, ...bearing(token) };
    if (exec) {
        const told = exec.provideClusterInfo ? clusterInfo(cluster) : undefined;
        const given = await credentialsOf(`the exec plugin ${exec.command} of user "${name}"`, exec, told);
        return {
            ...own,
            ...(given.clientCertificateData && { cert: given.clientCertificateData }),
            ...(given.clientKeyData && { key: given.clientKeyData }),
            ...(given.token && bearing(given.token)),
        };
    }
    const provided = provider && (await tokenOf(provider));
    if (provided) return { ...own, ...bearing(provided) };
    if (!username) return own;
    return { ...own, authorization: `Basic ${Buffer.from(`${username}:${password ?? ""}`).toString("base64")}` };
}

/** @throws Error if the file cannot be read */
function contentOf(file: string | undefined, data: string | undefined): Buffer | undefined {
    if (file) return readFileSync(file);
    return data ? Buffer.from(data, "base64") : undefined;
}

function tokenIn(file: string, inlineToken: string | undefined, user: string): string {
    if (inlineToken !== undefined && !existsSync(file)) return inlineToken;
    try {
        const token = readFileSync(file, "utf8").trim();
        if (token !== "") return token;
    } catch (error) {
        throw new Error(`the tokenFile ${file} of user "${user}" cannot be read: ${(error as Error).message}`);
    }
    throw new Error(`the tokenFile ${file} of user "${user}" is empty`);
}

/** Headers that name another user. */
function impersonation(user: UserEntry): Record<string, string | string[]> {
    const { as, "as-uid": uid } = user;
    // A kubeconfig may have `null` there.
    const groups = user["as-groups"] ?? [];
    const further = Object.entries(user["as-user-extra"] ?? {}).map(([key, values]) => [
        `Impersonate-Extra-${inHeaderName(key)}`,
        values,
    ]);
    return {
        ...(as && { "Impersonate-User": as }),
        ...(uid && { "Impersonate-Uid": uid }),
        ...(groups.length > 0 && { "Impersonate-Group": groups }),
        ...(Object.fromEntries(further) as Record<string, string[]>),
    };
}

/** Characters that a header's name cannot have are encoded, as the API server expects. */
const inHeaderName = (key: string) => encodeURIComponent(key).replace(/[()]/g, (one) => (one === "(" ? "%28" : "%29"));

/** The cluster as a plugin is told it: with its CA in place of the CA's path. */
function clusterInfo({ "certificate-authority": caFile, extensions, ...fields }: ClusterEntry): object {
    const { proxyUrl: _, ...told } = fields as typeof fields & { proxyUrl?: string };
    return {
        ...told,
        ...(caFile && { "certificate-authority-data": readFileSync(caFile, "base64") }),
        config: extensions?.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension,
    };
}
