import type { V1Namespace } from "@kubernetes/client-node";
import { join } from "shlex";
import { longestShopNamespace } from "../configuration/agent";
import { pulumiCommand } from "../pulumi-command";

export const annotations = {
    /** On a namespace: the name of the stack that owns it. */
    stack: "chaos-shop/stack",
    /** On a namespace: the identity of that stack. Another backend may have a stack of the same name. */
    identity: "chaos-shop/identity",
    /** On a namespace: how its objects were installed, if not by the program. */
    install: "chaos-shop/install",
} as const;

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
 * A namespace without an identity belongs to the stack that it names: its user handed it over. The update adds the
 * identity.
 */
export function refusedNamespace(
    { metadata, status }: V1Namespace,
    { stack, identity, key, context }: NamespaceRequest,
): string | undefined {
    const { name } = metadata!;
    const { [annotations.stack]: owner, [annotations.identity]: itsIdentity } = metadata!.annotations ?? {};
    const isOwn = itsIdentity === undefined ? owner === stack : itsIdentity === identity;
    const isTerminating = status?.phase === "Terminating";
    if (isOwn && !isTerminating) return undefined;
    // The identity of a stack that is destroyed and created again is new.
    if (isTerminating && (isOwn || owner === stack))
        return (
            `${key} is "${name}", which is being deleted from the cluster. Try again when it is gone: ` +
            join(["kubectl", "--context", context, "wait", "--for=delete", `namespace/${name}`])
        );
    const because =
        owner === undefined
            ? "which exists and belongs to no stack"
            : owner === stack
              ? `which belongs to another stack named "${owner}", one in another backend or an earlier one`
              : `which belongs to stack "${owner}"`;
    const when =
        owner === undefined
            ? "If this stack may use it, and delete it with everything in it"
            : "If that stack no longer exists";
    const handOver = [
        `${annotations.stack}=${stack}`,
        ...(itsIdentity === undefined ? [] : [`${annotations.identity}-`]),
    ];
    const annotate = ["kubectl", "--context", context, "annotate", "--overwrite", "namespace", name!, ...handOver];
    return (
        `${key} is "${name}", ${because}; allowed: a new namespace, or this stack's own. Nothing was touched.\n` +
        `  fix it with: ${pulumiCommand(["config", "set", key, another(name!, stack)])}\n` +
        `  ${when}: ${join(annotate)}`
    );
}

/** A name for another namespace: a stack's has other characters, and the names of both could be too long. */
function another(name: string, stack: string): string {
    const suffix = `-${stack.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`.slice(0, 20).replace(/-+$/, "");
    return `${name.slice(0, longestShopNamespace - suffix.length)}${suffix}`;
}
