import type { KubeConfig } from "@kubernetes/client-node";
import { existsSync, readFileSync } from "node:fs";
import { isIPv6 } from "node:net";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { yamlProblem } from "../json";
import { podContext } from "../kubectl";
import { apiServerOfPod } from "./in-cluster-api";
import { type Login, Logins } from "./logins";

export class KubeconfigError extends Error {
    override readonly name = "KubeconfigError";
}

/**
 * Loads the user's kubeconfig as kubectl does: the files in `KUBECONFIG`, else `~/.kube/config`, else the account of
 * the pod in which this runs. Without any of them it has no context.
 *
 * @throws KubeconfigError that names the file, if one cannot be read, or none of the files in `KUBECONFIG` exists
 */
export function loadKubeconfig(): KubeConfig {
    const named = (process.env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
    const files = (named.length > 0 ? named : [join(homedir(), ".kube", "config")]).filter((file) => existsSync(file));
    if (files.length > 0) return merged(files);
    if (named.length > 0)
        throw new KubeconfigError(
            `KUBECONFIG is "${named.join(delimiter)}", which does not exist; set it to a file that does, or ` +
                "unset it to use ~/.kube/config",
        );
    const pod = ofPod();
    if (pod) return pod;
    const kubeconfig = new Logins();
    kubeconfig.loadFromDefault();
    // Without any kubeconfig the library makes one up that leads to port 8080 of this machine.
    return ["loaded-context", podContext].includes(kubeconfig.getCurrentContext()) ? new Logins() : kubeconfig;
}

/**
 * The ServiceAccount of a pod, as a kubeconfig. Its token is read again for each request, since the kubelet renews it.
 * By itself, the library keeps it for a minute.
 *
 * @returns undefined outside of a pod, or if the pod has no token
 */
function ofPod(): Logins | undefined {
    const { host, port, account } = apiServerOfPod();
    const [tokenFile, ca] = ["token", "ca.crt"].map((file) => join(account, file));
    if (!host || !port || !existsSync(tokenFile!)) return undefined;
    const server = `https://${isIPv6(host) ? `[${host}]` : host}:${port}`;
    const name = podContext;
    const kubeconfig = new Logins();
    kubeconfig.loadFromString(
        JSON.stringify({
            clusters: [{ name, cluster: { server, "certificate-authority": ca } }],
            users: [{ name, user: { tokenFile } }],
            contexts: [{ name, context: { cluster: name, user: name } }],
            "current-context": name,
        }),
    );
    return kubeconfig;
}

/** Reads the text of a kubeconfig. @throws KubeconfigError without the text, which may hold a token */
export function kubeconfigFrom(text: string): KubeConfig {
    if (text.trim() === "") throw new KubeconfigError("the given kubeconfig is empty; give its text, or leave it out");
    return loaded("the given kubeconfig", () => text);
}

/** @throws KubeconfigError that names what is not supported of a context, and says what to do */
export function requireSupported(kubeconfig: KubeConfig, context: string): void {
    const { user: name, cluster: clusterName } = kubeconfig.getContextObject(context)!;
    const user: Login | null = kubeconfig.getUser(name);
    const cluster = kubeconfig.getCluster(clusterName);
    const { exec, as, "token-file": misspelt, ...entry } = user?.entry ?? {};
    const impersonated = Object.keys(entry).filter((field) => field.startsWith("as-"));
    const provider = (user?.authProvider as { name: string } | undefined)?.name;
    const undescribed = (what: string, called: string) =>
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
            provider && !authProviders.includes(provider),
            `the auth-provider ${provider} of user "${name}" is not supported; use an exec plugin`,
        ],
        [
            !/^(?:https?|socks\w*):/.test(cluster?.proxyUrl || "http:"),
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

/** Those that the library implements. */
const authProviders = ["azure", "gcp", "oidc"];

/**
 * Merges files as kubectl does: the first file that defines a name, or the current context, wins. In the library the
 * last file's current context wins, which may be another cluster's.
 */
function merged(files: readonly string[]): Logins {
    const all = new Logins();
    for (const one of files.map(read)) {
        for (const kind of ["clusters", "users", "contexts"] as const) {
            const known = new Set(all[kind].map(({ name }) => name));
            (all[kind] as unknown[]).push(...one[kind].filter(({ name }) => !known.has(name)));
        }
        if (!all.currentContext && one.currentContext) all.setCurrentContext(one.currentContext);
    }
    return all;
}

function read(file: string): Logins {
    const remedy = "; fix it, or set KUBECONFIG to another file";
    const kubeconfig = loaded(`the kubeconfig ${file}`, () => readFileSync(file, "utf8"), remedy);
    kubeconfig.makePathsAbsolute(dirname(file));
    return kubeconfig;
}

/** An empty text has no context. @param name begins the error */
function loaded(name: string, textOf: () => string, remedy = ""): Logins {
    const kubeconfig = new Logins();
    try {
        const text = textOf();
        if (text.trim() !== "") kubeconfig.loadFromString(text);
        return kubeconfig;
    } catch (error) {
        const problem = error instanceof TypeError ? "it is YAML, but not a kubeconfig" : yamlProblem(error);
        throw new KubeconfigError(`${name} cannot be read: ${problem}${remedy}`);
    }
}
