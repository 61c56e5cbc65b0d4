import type { Allowed, Effect, Outcome } from "./kind";

/**
 * Compares what came out of a run with what its kind allows.
 *
 * @param effect what the trouble saw may leave fewer outcomes, or add some
 * @returns why it is wrong, in a sentence; undefined if it is right
 */
export function judge(usual: Allowed, outcome: Outcome, reason: string, effect?: Effect): string | undefined {
    const allowed = { ...usual, ...effect?.also };
    const pattern = allowed[outcome];
    if (pattern === undefined) return `${outcome} instead of ${describeAllowed(allowed)}: ${reason}`;
    if (effect?.only && !effect.only.includes(outcome))
        return `${outcome} instead of ${effect.only.join(" or ")}, since ${effect.saw}: ${reason}`;
    return pattern.test(reason) ? undefined : `${outcome}, but the reason does not say ${pattern}: ${reason}`;
}

/** `FAILED or INCONCLUSIVE` */
export const describeAllowed = (allowed: Allowed): string => Object.keys(allowed).join(" or ");
