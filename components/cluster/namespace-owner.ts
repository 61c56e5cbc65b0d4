import type { V1Namespace } from "../../chaos/values/kubernetes-types";
import { kubectl } from "../../chaos/values/kubectl";
import { longestShopNamespace } from "../configuration/agent";
import { setCommand } from "../pulumi-command";
import { annotations, belongsTo, handOver, isMarkedBy } from "./marks";

export interface NamespaceRequest {
    stack: string;
    identity: string;
    key: "namespace" | "agent.namespace";
    /** The kubeconfig context, for commands. */
    context: string;
}

/**
 * Why a stack must not use an existing namespace, and the commands that resolve it. Undefined if the namespace is the
 * stack's own. Another namespace needs consent: `pulumi destroy` deletes a stack's namespaces with everything in them.
 *
 * So does one that a destroyed stack has kept for its claims: only a person knows that it was destroyed.
 */
export function refusedNamespace(
    { metadata, status }: V1Namespace,
    { stack, identity, key, context }: NamespaceRequest,
): string | undefined {
    const { name, annotations: marks } = metadata!;
    const owner = marks?.[annotations.stack];
    const isOwn = isMarkedBy(marks, { stack, identity });
    const isTerminating = status?.phase === "Terminating";
    if (isOwn && !isTerminating) return undefined;
    // The identity of a stack that is destroyed and created again is new.
    if (isTerminating && (isOwn || owner === stack))
        return (
            `${key} is "${name}", which is being deleted from the cluster. Try again when it is gone: ` +
            `${kubectl({ context })} wait --for=delete namespace/${name}`
        );
    const when =
        owner === undefined
            ? "If this stack may use it, and delete it with everything in it"
            : owner === stack
              ? "If that stack was destroyed, and this one may take over what it has kept, claims with their data"
              : "If that stack no longer exists";
    return (
        `${key} is "${name}", which ${belongsTo(marks, { stack })}; allowed: a new namespace, or this stack's own. ` +
        "Nothing was touched.\n" +
        `  fix it with: ${setCommand(key, another(name!, stack))}\n` +
        `  ${when}: ${handOver(["namespace", name!], marks, { stack, context })}`
    );
}

/** A name for another namespace: a stack's has other characters, and the names of both could be too long. */
function another(name: string, stack: string): string {
    const suffix = `-${stack.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`.slice(0, 20).replace(/-+$/, "");
    return `${name.slice(0, longestShopNamespace - suffix.length)}${suffix}`;
}
