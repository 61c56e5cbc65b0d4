/** Commands of kubectl for people. No imports: the program that guards a destroy has this file, too. */

/** A word as a POSIX shell reads it. */
export const quoted = (word: string): string =>
    /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

/** Where a command acts. */
export interface KubectlPlace {
    /** Of the kubeconfig. @default the current one, whichever that is by then */
    context?: string;
    /** @default the one of the context */
    namespace?: string;
}

/**
 * How a command begins that a person can paste. It names the context, since another may be the current one by then.
 */
export function kubectl({ context, namespace }: KubectlPlace): string {
    const words = ["kubectl", ...option("--context", context), ...option("--namespace", namespace)];
    return words.map(quoted).join(" ");
}

const option = (name: string, value?: string) => (value === undefined ? [] : [name, value]);

/** `kubectl` in the cluster that is used. */
export const kubectlFor = (cluster: { kubeconfig: { getCurrentContext(): string } }, namespace?: string): string =>
    kubectl({ context: cluster.kubeconfig.getCurrentContext(), namespace });
