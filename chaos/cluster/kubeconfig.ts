import { load } from "js-yaml";
import { existsSync, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve, sep } from "node:path";
import { yamlProblem } from "../values/json";
import { podContext } from "../values/kubectl";
import { type AuthProvider, isSupported } from "./auth-providers";
import { apiServerOfPod } from "./in-cluster-api";
import type { ExecPlugin } from "./exec-plugin";
import { proxyFor } from "./proxy";

export class KubeconfigError extends Error {
    override readonly name = "KubeconfigError";
}

/** How an API server is reached. */
export interface ClusterEntry {
    server: string;
    "certificate-authority"?: string;
    "certificate-authority-data"?: string;
    "insecure-skip-tls-verify"?: boolean;
    "tls-server-name"?: string;
    "proxy-url"?: string;
    extensions?: { name: string; extension: unknown }[];
}

/** Who asks it. */
export interface UserEntry {
    token?: string;
    tokenFile?: string;
    "client-certificate"?: string;
    "client-certificate-data"?: string;
    "client-key"?: string;
    "client-key-data"?: string;
    username?: string;
    password?: string;
    exec?: ExecPlugin;
    "auth-provider"?: AuthProvider;
    as?: string;
    "as-uid"?: string;
    "as-groups"?: string[];
    "as-user-extra"?: Record<string, string[]>;
    "token-file"?: string;
}

interface ContextEntry {
    cluster: string;
    user?: string;
    namespace?: string;
}

/** The lists of a kubeconfig's file. Incomplete entries are left out: kubectl accepts those that it does not need. */
export class Kubeconfig {
    clusters: { name: string; cluster: ClusterEntry }[] = [];
    users: { name: string; user: UserEntry }[] = [];
    contexts: { name: string; context: ContextEntry }[] = [];
    private current = "";

    /** @throws TypeError if it is no kubeconfig */
    static of(text: string): Kubeconfig {
        const document = (load(text) ?? {}) as Record<string, unknown>;
        const entries = <T extends { name: string }>(field: string, isComplete: (entry: T) => unknown): T[] => {
            const list = document[field] ?? [];
            if (!Array.isArray(list)) throw new TypeError(`${field} is no list`);
            return (list as (T | null)[]).filter((one) => one !== null && one.name && isComplete(one)) as T[];
        };
        const made = new Kubeconfig();
        made.clusters = entries<Kubeconfig["clusters"][number]>(
            "clusters",
            ({ cluster }) => typeof cluster?.server === "string",
        );
        made.contexts = entries<Kubeconfig["contexts"][number]>("contexts", ({ context }) => context?.cluster);
        made.users = entries<Kubeconfig["users"][number]>("users", () => true).map(({ name, user }) => ({
            name,
            user: user ?? {},
        }));
        const current = document["current-context"];
        made.current = typeof current === "string" ? current : "";
        return made;
    }

    getCurrentContext(): string {
        return this.current;
    }

    setCurrentContext(name: string): void {
        this.current = name;
    }

    getContexts(): (ContextEntry & { name: string })[] {
        return this.contexts.map(({ name, context }) => ({ ...context, name }));
    }

    getContextObject(name: string): ContextEntry | undefined {
        return this.contexts.find((one) => one.name === name)?.context;
    }

    /** Without a proxy of its own, a cluster is asked through the environment's, as by kubectl. */
    getCluster(name: string): (ClusterEntry & { proxyUrl?: string }) | undefined {
        const entry = this.clusters.find((one) => one.name === name)?.cluster;
        if (entry === undefined) return undefined;
        const server = entry.server.replace(/\/+$/, "");
        return { ...entry, server, proxyUrl: entry["proxy-url"] || proxyFor(server) };
    }

    getUser(name: string | undefined): UserEntry | undefined {
        return this.users.find((one) => one.name === name)?.user;
    }

    getCurrentCluster() {
        return this.getCluster(this.getContextObject(this.current)?.cluster ?? "");
    }

    /** Merges another one as kubectl does: what is known by its name stays. */
    add(other: Kubeconfig): void {
        const unknown = <T extends { name: string }>(known: readonly T[], list: readonly T[]) =>
            list.filter(({ name }) => !known.some((one) => one.name === name));
        this.clusters.push(...unknown(this.clusters, other.clusters));
        this.users.push(...unknown(this.users, other.users));
        this.contexts.push(...unknown(this.contexts, other.contexts));
        this.current ||= other.current;
    }

    /** Has paths that are relative begin in a folder. */
    resolveIn(folder: string): this {
        const within = <T>(entry: T, field: keyof T & string) => {
            if (entry[field]) entry[field] = resolve(folder, entry[field] as string) as T[typeof field];
        };
        for (const { cluster } of this.clusters) within(cluster, "certificate-authority");
        for (const { user } of this.users) {
            for (const field of ["tokenFile", "client-certificate", "client-key"] as const) within(user, field);
            // A name without a slash is searched in PATH.
            if (user.exec?.command?.includes(sep)) within(user.exec, "command");
        }
        return this;
    }
}

/**
 * Loads the user's kubeconfig as kubectl does: the files in `KUBECONFIG`, else `~/.kube/config`, else the account of
 * the pod in which this runs. Without any of them it has no context.
 *
 * @throws KubeconfigError that names the file, if one cannot be read, or none of the files in `KUBECONFIG` exists
 */
export function loadKubeconfig(): Kubeconfig {
    const named = (process.env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
    const files = (named.length > 0 ? named : [join(homedir(), ".kube", "config")]).filter((file) => existsSync(file));
    if (named.length > 0 && files.length === 0)
        throw new KubeconfigError(
            `KUBECONFIG is "${named.join(delimiter)}", which does not exist; set it to a file that does, or ` +
                "unset it to use ~/.kube/config",
        );
    if (files.length === 0) return ofPod() ?? new Kubeconfig();
    const merged = new Kubeconfig();
    for (const file of files) merged.add(read(file));
    return merged;
}

/**
 * The ServiceAccount of a pod, as a kubeconfig. Its token is read again for each request, since the kubelet renews it.
 *
 * @returns undefined outside of a pod, or if the pod has no token
 */
function ofPod(): Kubeconfig | undefined {
    const { host, port, account } = apiServerOfPod();
    const [tokenFile, ca] = ["token", "ca.crt"].map((file) => join(account, file));
    if (!host || !port || !existsSync(tokenFile!)) return undefined;
    const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
    const name = podContext;
    const kubeconfig = new Kubeconfig();
    kubeconfig.clusters = [{ name, cluster: { server, "certificate-authority": ca } }];
    kubeconfig.users = [{ name, user: { tokenFile } }];
    kubeconfig.contexts = [{ name, context: { cluster: name, user: name } }];
    kubeconfig.setCurrentContext(name);
    return kubeconfig;
}

/** Reads the text of a kubeconfig. @throws KubeconfigError without the text, which may hold a token */
export function kubeconfigFrom(text: string): Kubeconfig {
    if (text.trim() === "") throw new KubeconfigError("the given kubeconfig is empty; give its text, or leave it out");
    return loaded("the given kubeconfig", () => text);
}

/** @throws KubeconfigError that names what is not supported of a context, and says what to do */
export function requireSupported(kubeconfig: Kubeconfig, context: string): void {
    const { user: name, cluster: clusterName } = kubeconfig.getContextObject(context)!;
    const user = kubeconfig.getUser(name);
    const cluster = kubeconfig.getCluster(clusterName);
    const { exec, as, "token-file": misspelt, "auth-provider": provider, ...entry } = user ?? {};
    const impersonated = Object.keys(entry).filter((field) => field.startsWith("as-"));
    const undescribed = (what: string, called: string | undefined) =>
        `context "${context}" names the ${what} "${called}", which the kubeconfig does not describe; add it`;
    const mistakes: [isMade: unknown, mistake: string][] = [
        [name && !user, undescribed("user", name)],
        [!cluster, undescribed("cluster", clusterName)],
        [exec && !exec.command, `the exec plugin of user "${name}" has no command; add it`],
        [
            exec?.interactiveMode === "Always",
            `the exec plugin ${exec?.command} of user "${name}" has interactiveMode Always, and an update has no ` +
                "terminal; if it can do without, set it to IfAvailable, else use another plugin",
        ],
        [
            impersonated.length > 0 && !as,
            `user "${name}" has ${impersonated.join(" and ")} and no as; add as, the name of the user who is meant`,
        ],
        [
            [entry["as-groups"] ?? [], ...Object.values(entry["as-user-extra"] ?? {})].some(
                (one) => !Array.isArray(one),
            ),
            `as-groups and each value of as-user-extra of user "${name}" must be a list`,
        ],
        [misspelt, `user "${name}" has token-file, which kubectl does not know; name it tokenFile`],
        [
            provider && !isSupported(provider),
            `the auth-provider ${provider?.name} of user "${name}" is not supported; use an exec plugin`,
        ],
        [
            cluster?.proxyUrl && !(/^(?:https?|socks5?h?):/.test(cluster.proxyUrl) && URL.canParse(cluster.proxyUrl)),
            `the proxy-url of cluster "${clusterName}", or HTTPS_PROXY, must begin with http://, https:// or socks5://`,
        ],
        [
            cluster && !/^https?:/.test(cluster.server),
            `the server of cluster "${clusterName}" must begin with https:// or http://`,
        ],
    ];
    const made = mistakes.filter(([isMade]) => isMade).map(([, mistake]) => mistake);
    if (made.length > 0) throw new KubeconfigError(made.join("\n"));
}

function read(file: string): Kubeconfig {
    const remedy = "; fix it, or set KUBECONFIG to another file";
    return loaded(`the kubeconfig ${file}`, () => readFileSync(file, "utf8"), remedy).resolveIn(dirname(file));
}

/** An empty text has no context. @param name begins the error */
function loaded(name: string, textOf: () => string, remedy = ""): Kubeconfig {
    try {
        return Kubeconfig.of(textOf());
    } catch (error) {
        const problem = error instanceof TypeError ? "it is YAML, but not a kubeconfig" : yamlProblem(error);
        throw new KubeconfigError(`${name} cannot be read: ${problem}${remedy}`);
    }
}
