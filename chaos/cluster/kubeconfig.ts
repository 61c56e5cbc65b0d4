import { KubeConfig } from "@kubernetes/client-node";
import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";

export class KubeconfigError extends Error {
    override readonly name = "KubeconfigError";
}

/**
 * Loads the user's kubeconfig as kubectl does: the files in `KUBECONFIG`, else `~/.kube/config`. Without a file it has
 * no context.
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
    const kubeconfig = new KubeConfig();
    kubeconfig.loadFromDefault();
    // Without any kubeconfig the library makes one up that leads to port 8080 of this machine.
    return kubeconfig.getCurrentContext() === "loaded-context" ? new KubeConfig() : kubeconfig;
}

/** Reads the text of a kubeconfig. @throws KubeconfigError without the text, which may hold a token */
export function kubeconfigFrom(text: string): KubeConfig {
    if (text.trim() === "") throw new KubeconfigError("the given kubeconfig is empty; give its text, or leave it out");
    return loaded("the given kubeconfig", () => text);
}

/**
 * Merges files as kubectl does: the first file that defines a name, or the current context, wins. In the library the
 * last file's current context wins, which may be another cluster's.
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
    const remedy = "; fix it, or set KUBECONFIG to another file";
    const kubeconfig = loaded(`the kubeconfig ${file}`, () => readFileSync(file, "utf8"), remedy);
    kubeconfig.makePathsAbsolute(dirname(file));
    return kubeconfig;
}

/** An empty text has no context. @param name begins the error */
function loaded(name: string, textOf: () => string, remedy = ""): KubeConfig {
    const kubeconfig = new KubeConfig();
    try {
        const text = textOf();
        if (text.trim() !== "") kubeconfig.loadFromString(text);
        return kubeconfig;
    } catch (error) {
        throw new KubeconfigError(`${name} cannot be read: ${yamlProblem(error)}${remedy}`);
    }
}

/** What is wrong with a file, without its text: YAML's own message quotes lines, which may hold a token. */
function yamlProblem(error: unknown): string {
    const { reason, mark, message } = error as Error & { reason?: string; mark?: { line: number } };
    if (reason !== undefined) return mark === undefined ? reason : `${reason} in line ${mark.line + 1}`;
    return error instanceof TypeError ? "it is YAML, but not a kubeconfig" : message;
}
