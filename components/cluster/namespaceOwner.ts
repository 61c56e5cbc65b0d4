import type { V1Namespace } from "@kubernetes/client-node";
import { annotations } from "../../shared/labels";

/** Who wants a namespace: the stack, and the setting that names it. */
export interface Claimant {
    stack: string;
    key: "namespace" | "agent.namespace";
    /** The kubeconfig context, for commands. */
    context: string;
}

/**
 * Why a stack must not have a namespace that is there, with the commands that lead on; undefined where it is the stack's
 * own. Destroying a stack removes its namespaces with all that is in them: whoever else has something there must say so.
 */
export function refusedNamespace(
    { metadata, status }: V1Namespace,
    { stack, key, context }: Claimant,
): string | undefined {
    const { name } = metadata!;
    const owner = metadata!.annotations?.[annotations.stack];
    if (owner === stack && status?.phase !== "Terminating") return undefined;
    if (owner === stack)
        return `${key} is "${name}", which is being removed from the cluster. Run this again when it is gone: kubectl --context ${context} wait --for=delete namespace/${name}`;
    const because = owner === undefined ? "which is there already, and no stack made it" : `which stack "${owner}" has`;
    const when =
        owner === undefined
            ? "If this stack may have it, and remove it with all that is in it"
            : "If that stack is no more";
    return (
        `${key} is "${name}", ${because}; allowed: a namespace that is not there, or this stack's own. Nothing was touched.\n` +
        `  mend it with: pulumi config set ${key} ${name}-${stack}\n` +
        `  ${when}: kubectl --context ${context} annotate --overwrite namespace ${name} ${annotations.stack}=${stack}`
    );
}
