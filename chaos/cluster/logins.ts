import { type Cluster, KubeConfig, loadYaml, RequestContext, type User } from "@kubernetes/client-node";
import { existsSync, readFileSync } from "node:fs";
import type { Agent, RequestOptions } from "node:https";
import { getDefaultAutoSelectFamilyAttemptTimeout, isIP } from "node:net";
import { resolve, sep } from "node:path";
import { checkServerIdentity } from "node:tls";
import { credentialsOf, type ExecPlugin } from "./exec-plugin";
import { proxyFor } from "./proxy";

/** Fields of a user that the library does not read, or reads otherwise than kubectl. */
interface UserEntry {
    tokenFile?: string;
    exec?: ExecPlugin;
    as?: string;
    "as-uid"?: string;
    "as-groups"?: string[];
    "as-user-extra"?: Record<string, string[]>;
    "token-file"?: string;
}

interface ClusterEntry {
    "certificate-authority"?: string;
    extensions?: { name: string; extension: unknown }[];
}

interface Document {
    users?: ({ name?: string; user?: UserEntry | null } | null)[];
    clusters?: ({ name?: string; cluster?: ClusterEntry | null } | null)[];
}

/** @property inlineToken what counts if there is no `tokenFile` at its path */
export type Login = User & { entry?: UserEntry; inlineToken?: string };

/**
 * A kubeconfig as kubectl reads it. Mends what @kubernetes/client-node 1.4.0 does not read or reads otherwise:
 * `tokenFile`, the fields that begin with `as-`, `exec`, addresses behind SOCKS proxies, servers without TLS, and
 * incomplete entries. Version 2.0.1 keeps credentials that have no expiry, and needs Node.js 22.
 */
export class Logins extends KubeConfig {
    declare users: Login[];
    declare clusters: (Cluster & { entry?: ClusterEntry })[];

    constructor() {
        super();
        this.addAuthenticator({
            isAuthProvider: ({ entry, token }: Login) => !token && Boolean(entry?.tokenFile ?? entry?.exec),
            applyAuthentication: (user, options) => this.logIn(user, options as RequestOptions),
        });
    }

    /** Leaves out incomplete entries, which kubectl accepts as long as it does not need them. */
    override loadFromString(text: string): void {
        const document = loadYaml<Document | undefined>(text) ?? {};
        // The library would read the file that this field names, which kubectl does not know.
        const known = (name: string, value: unknown) => (name === "token-file" ? undefined : value);
        super.loadFromString(JSON.stringify(document, known), { onInvalidEntry: "filter" });
        for (const user of this.users) {
            const entry = document.users?.find((one) => one?.name === user.name)?.user ?? {};
            Object.assign(user, { entry, exec: undefined, impersonateUser: undefined });
            if (entry.tokenFile) Object.assign(user, { token: undefined, inlineToken: user.token });
        }
        for (const cluster of this.clusters) {
            const entry = document.clusters?.find((one) => one?.name === cluster.name)?.cluster;
            Object.assign(cluster, { entry, skipTLSVerify: cluster.skipTLSVerify || !hasTls(cluster) });
        }
    }

    override makePathsAbsolute(folder: string): void {
        super.makePathsAbsolute(folder);
        for (const { entry } of this.users) {
            if (entry?.tokenFile) entry.tokenFile = resolve(folder, entry.tokenFile);
            // A name without a slash is searched in PATH.
            if (entry?.exec?.command?.includes(sep)) entry.exec.command = resolve(folder, entry.exec.command);
        }
    }

    /** Without a proxy of its own, a cluster is asked through the environment's, as by kubectl. */
    override getCluster(name: string): Cluster | null {
        const cluster = super.getCluster(name);
        return cluster && { ...cluster, proxyUrl: cluster.proxyUrl || proxyFor(cluster.server) };
    }

    /** Without TLS, kubectl sends no credentials. */
    override getCurrentUser(): Login | null {
        const user: Login | null = super.getCurrentUser();
        if (user === null || hasTls(this.getCurrentCluster())) return user;
        const { tokenFile: _, exec: __, ...entry } = user.entry ?? {};
        return { name: user.name, entry };
    }

    override async applyToHTTPSOptions(options: RequestOptions & AddressOptions): Promise<void> {
        await super.applyToHTTPSOptions(options);
        Object.assign((options.headers ??= {}), this.impersonation());
        const agent = options.agent as Agent;
        this.letVerifyAddress(agent);
        limitAddresses(agent, options.autoSelectFamilyAttemptTimeout);
    }

    override async applySecurityAuthentication(context: RequestContext): Promise<void> {
        await super.applySecurityAuthentication(context);
        const more = Object.entries(this.impersonation()).flatMap(([name, values]) => values.map((one) => [name, one]));
        // Pairs, since the library would join the values of a header to one. When they are asked for, since options of
        // a call, such as a patch's type, are set later.
        const own = () => Object.entries(RequestContext.prototype.getHeaders.call(context));
        context.getHeaders = () => [...own(), ...more] as never;
        const agent = context.getAgent() as Agent;
        this.letVerifyAddress(agent);
        limitAddresses(agent);
    }

    /** Behind a SOCKS proxy, the library compares the certificate of a server at an address with "localhost". */
    private letVerifyAddress({ options }: Agent): void {
        const { server, proxyUrl, tlsServerName } = this.getCurrentCluster()!;
        const address = new URL(server).hostname.replace(/^\[|\]$/g, "");
        if (proxyUrl?.startsWith("socks") && isIP(address) && !tlsServerName)
            options.checkServerIdentity = (_, certificate) => checkServerIdentity(address, certificate);
    }

    private impersonation(): Record<string, string[]> {
        const { as, "as-uid": uid, "as-groups": groups, "as-user-extra": extra } = this.getCurrentUser()?.entry ?? {};
        const headers = {
            "Impersonate-User": as ? [as] : [],
            "Impersonate-Uid": uid ? [uid] : [],
            "Impersonate-Group": groups ?? [],
            ...Object.fromEntries(
                Object.entries(extra ?? {}).map(([key, values]) => [`Impersonate-Extra-${inHeaderName(key)}`, values]),
            ),
        };
        return Object.fromEntries(Object.entries(headers).filter(([, values]) => values.length > 0));
    }

    private async logIn({ name, entry, inlineToken }: Login, options: RequestOptions): Promise<void> {
        const { tokenFile, exec } = entry!;
        const bear = (token: string) => void Object.assign(options.headers!, { Authorization: `Bearer ${token}` });
        if (tokenFile) return bear(tokenIn(tokenFile, inlineToken, name));
        const cluster = exec!.provideClusterInfo ? this.clusterInfo() : undefined;
        const given = await credentialsOf(`the exec plugin ${exec!.command} of user "${name}"`, exec!, cluster);
        if (given.clientCertificateData) options.cert = given.clientCertificateData;
        if (given.clientKeyData) options.key = given.clientKeyData;
        if (given.token) bear(given.token);
    }

    /** The cluster as a plugin is told it: with its CA in place of the CA's path. */
    private clusterInfo(): object {
        const { caFile, entry } = this.getCurrentCluster() as Logins["clusters"][number];
        const { "certificate-authority": _, extensions, ...fields } = entry!;
        return {
            ...fields,
            ...(caFile && { "certificate-authority-data": readFileSync(caFile, "base64") }),
            config: extensions?.find(({ name }) => name === "client.authentication.k8s.io/exec")?.extension,
        };
    }
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

const limitAddresses = ({ options }: Agent, timeoutMs = addressTimeoutMs()): void =>
    void Object.assign(options, { autoSelectFamilyAttemptTimeout: timeoutMs } satisfies AddressOptions);

const hasTls = (cluster: Cluster | null) => cluster?.server.startsWith("https:") ?? false;

/** Characters that a header's name cannot have are encoded, as the API server expects. */
const inHeaderName = (key: string) => encodeURIComponent(key).replace(/[()]/g, (one) => (one === "(" ? "%28" : "%29"));

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
