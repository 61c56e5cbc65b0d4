import { join } from "shlex";
import { kubectl } from "../../chaos/values/kubectl";

// The program that guards a destroy has this file: no imports that would make it large.

/** The annotations by which a stack knows what is its own. */
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

export const marksOf = <T>({ stack, identity }: Pick<Owner, "stack"> & { identity: T }) => ({
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

/** The command that hands an object over to a stack. @param object as kubectl names it: `["namespace", "demo"]` */
export function handOver(
    object: readonly string[],
    marks: Record<string, string> = {},
    { stack, context }: Pick<Owner, "stack"> & { context: string },
): string {
    const identity = marks[annotations.identity] === undefined ? [] : [`${annotations.identity}-`];
    const words = [...object, `${annotations.stack}=${stack}`, ...identity];
    return `${kubectl({ context })} annotate --overwrite ${join(words)}`;
}

/** Whose something is that is not the stack's own, to complete "which …". */
export function belongsTo(marks: Record<string, string> = {}, { stack }: Pick<Owner, "stack">): string {
    const owner = marks[annotations.stack];
    if (owner === undefined) return "exists and belongs to no stack";
    if (owner !== stack) return `belongs to stack "${owner}"`;
    return `belongs to another stack named "${owner}", one in another backend or an earlier one`;
}
