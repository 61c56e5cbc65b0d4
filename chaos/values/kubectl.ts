/** Commands of kubectl for people. The program that guards a destroy has this file, too, so it imports little. */
import { join } from "shlex";

/**
 * Stands for a pod's own ServiceAccount, which kubectl uses without a kubeconfig. kubectl knows no context of this
 * name.
 */
export const podContext = "inClusterContext";

/** Where a command acts. */
export interface KubectlPlace {
    /** Name in the kubeconfig. @default the context that is current by then */
    context?: string;
    /** @default the context's */
    namespace?: string;
}

/** The beginning of a command that a person can paste. It names the context, since the current one may change. */
export function kubectl({ context, namespace }: KubectlPlace): string {
    const named = context === podContext ? undefined : context;
    return join(["kubectl", ...option("--context", named), ...option("--namespace", namespace)]);
}

const option = (name: string, value?: string) => (value === undefined ? [] : [name, value]);

export const kubectlFor = (cluster: { kubeconfig: { getCurrentContext(): string } }, namespace?: string): string =>
    kubectl({ context: cluster.kubeconfig.getCurrentContext() || undefined, namespace });
