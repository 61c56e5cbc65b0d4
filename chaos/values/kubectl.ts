/** Commands of kubectl for people. Few imports: the program that guards a destroy has this file, too. */
import { join } from "shlex";

/**
 * The context that stands for a pod's own ServiceAccount. kubectl uses that account without a kubeconfig, but knows no
 * context of this name.
 */
export const podContext = "inClusterContext";

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
    const named = context === podContext ? undefined : context;
    return join(["kubectl", ...option("--context", named), ...option("--namespace", namespace)]);
}

const option = (name: string, value?: string) => (value === undefined ? [] : [name, value]);

/** `kubectl` in the cluster that is used. */
export const kubectlFor = (cluster: { kubeconfig: { getCurrentContext(): string } }, namespace?: string): string =>
    kubectl({ context: cluster.kubeconfig.getCurrentContext() || undefined, namespace });
