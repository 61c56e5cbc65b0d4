import { KubeConfig } from "@kubernetes/client-node";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

/** The user's kubeconfig cannot be read. */
export class KubeconfigError extends Error {
    constructor(message: string) {
        super(message);
        this.name = "KubeconfigError";
    }
}

/**
 * The user's kubeconfig, from where kubectl looks for it: the files that `KUBECONFIG` names, else `~/.kube/config`. One
 * without any context where there is no file.
 *
 * @throws KubeconfigError that names the file, where one cannot be read, or none that `KUBECONFIG` names is there
 */
export function loadKubeconfig(): KubeConfig {
    const named = (process.env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
    const files = (named.length > 0 ? named : [join(homedir(), ".kube", "config")]).filter((file) => existsSync(file));
    if (files.length > 0) return merged(files);
    if (named.length > 0)
        throw new KubeconfigError(
            `KUBECONFIG is "${named.join(delimiter)}", and no such file is there; set it to one that is, or unset it for ~/.kube/config`,
        );
    const kubeconfig = new KubeConfig();
    kubeconfig.loadFromDefault();
    // Where there is no kubeconfig at all, the library makes one up that leads to port 8080 of this machine.
    return kubeconfig.getCurrentContext() === "loaded-context" ? new KubeConfig() : kubeconfig;
}

/**
 * Several files as one, as kubectl merges them: of those that say what a name means, or which context is the current one,
 * the first is right. The library takes the last one's word for the current context, which may be another cluster's.
 */
function merged(files: readonly string[]): KubeConfig {
    const all = new KubeConfig();
    for (const one of files.map(read)) {
        for (const kind of ["clusters", "users", "contexts"] as const) {
            const known = new Set(all[kind].map(({ name }) => name));
            (all[kind] as unknown[]).push(...one[kind].filter(({ name }) => !known.has(name)));
        }
        if (!all.currentContext && one.currentContext) all.setCurrentContext(one.currentContext);
    }
    return all;
}

function read(file: string): KubeConfig {
    const kubeconfig = new KubeConfig();
    try {
        const text = readFileSync(file, "utf8");
        if (text.trim() === "") return kubeconfig;
        kubeconfig.loadFromString(text);
        kubeconfig.makePathsAbsolute(dirname(file));
        return kubeconfig;
    } catch (error) {
        throw new KubeconfigError(
            `the kubeconfig ${file} cannot be read: ${reasonOf(error)}; mend it, or set KUBECONFIG to another`,
        );
    }
}

/** What is wrong with a file, without its text: YAML's own message quotes the lines around, where a token may be. */
function reasonOf(error: unknown): string {
    const { reason, mark, message } = error as Error & { reason?: string; mark?: { line: number } };
    if (reason !== undefined) return mark === undefined ? reason : `${reason} in line ${mark.line + 1}`;
    return error instanceof TypeError ? "it is YAML, but no kubeconfig" : message;
}
