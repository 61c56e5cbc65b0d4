import type { V1Namespace } from "@kubernetes/client-node";

export const annotations = {
    /** On a namespace, or on an object outside the stack's namespaces: the name of the stack that owns it. */
    stack: "chaos-shop/stack",
    /** Beside it: the identity of that stack. Another backend may have a stack of the same name. */
    identity: "chaos-shop/identity",
    /** On a namespace: how its objects were installed, if not by the program. */
    install: "chaos-shop/install",
    /** On a namespace: that it outlives its stack, for the claims in it. */
    kept: "chaos-shop/kept",
} as const;

/** A stack, as its marks name it. */
export interface Owner {
    stack: string;
    identity: string;
}

/** The annotations by which a stack knows its own. */
export const marksOf = ({ stack, identity }: Owner) => ({
    [annotations.stack]: stack,
    [annotations.identity]: identity,
});

/**
 * Whether something is the stack's own. What names the stack and no identity is: its user handed it over. The update
 * adds the identity.
 */
export function isMarkedBy(marks: Record<string, string> = {}, { stack, identity }: Owner): boolean {
    const found = marks[annotations.identity];
    return found === undefined ? marks[annotations.stack] === stack : found === identity;
}

/** The arguments of `kubectl annotate --overwrite` that hand something over to a stack. */
export function handOver(marks: Record<string, string> = {}, stack: string): string {
    return `${annotations.stack}=${stack}${marks[annotations.identity] === undefined ? "" : ` ${annotations.identity}-`}`;
}

/** Whose something is that is not the stack's own, to complete "which …". */
export function belongsTo(marks: Record<string, string> = {}, { stack }: Pick<Owner, "stack">): string {
    const owner = marks[annotations.stack];
    if (owner === undefined) return "exists and belongs to no stack";
    if (owner !== stack) return `belongs to stack "${owner}"`;
    return `belongs to another stack named "${owner}", one in another backend or an earlier one`;
}

export interface NamespaceRequest extends Owner {
    key: "namespace" | "agent.namespace";
    /** The kubeconfig context, for commands. */
    context: string;
}

/**
 * Why a stack must not use an existing namespace, and the commands that resolve it. Undefined if the namespace is the
 * stack's own. Another namespace needs consent: `pulumi destroy` deletes a stack's namespaces with everything in them.
 * So does one that a destroyed stack has kept for its claims: only a person knows that it was destroyed.
 */
export function refusedNamespace(
    { metadata, status }: V1Namespace,
    { key, context, ...owner }: NamespaceRequest,
): string | undefined {
    const { stack } = owner;
    const { name, annotations: marks } = metadata!;
    const isOwn = isMarkedBy(marks, owner);
    const isTerminating = status?.phase === "Terminating";
    if (isOwn && !isTerminating) return undefined;
    const named = marks?.[annotations.stack];
    // The identity of a stack that is destroyed and created again is new.
    if (isTerminating && (isOwn || named === stack))
        return (
            `${key} is "${name}", which is being deleted from the cluster. Try again when it is gone: ` +
            `kubectl --context ${context} wait --for=delete namespace/${name}`
        );
    const when =
        named === undefined
            ? "If this stack may use it, and delete it with everything in it"
            : named === stack
              ? "If that stack was destroyed, and this one may take over what it has kept, claims with their data"
              : "If that stack no longer exists";
    return (
        `${key} is "${name}", which ${belongsTo(marks, owner)}; allowed: a new namespace, or this stack's own. ` +
        "Nothing was touched.\n" +
        `  fix it with: pulumi config set ${key} ${name}-${stack}\n` +
        `  ${when}: kubectl --context ${context} annotate --overwrite namespace ${name} ${handOver(marks, stack)}`
    );
}
