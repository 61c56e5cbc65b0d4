/** Changes a definition by a stack's settings: the shop's `experiments/run.ts` uses this. */
import { type Attack, onlyReadyOf, type PlainAttack } from "../kinds/attacks/registry";
import type { AttributeExpression } from "../targets/attributes";
import type { AttackDefinition, ExperimentDefinition } from "./definition";

/** What a stack's settings change in a definition. */
export interface Patch extends Pick<AttackDefinition, "radius" | "includeNotReady" | "established" | "outward"> {
    /** The kind of the attack. For a definition with one attack. */
    attack?: PlainAttack["kind"];
    /** For a definition with one attack. */
    target?: AttributeExpression;
}

/** A definition as a patch changes it. What the patch does not say stays, unless another kind cannot have it. */
export const patched = <D extends Pick<ExperimentDefinition, "attacks">>(definition: D, patch: Patch): D => ({
    ...definition,
    attacks: definition.attacks?.map((attack) => patchedAttack(attack, patch)),
});

function patchedAttack(defined: AttackDefinition, patch: Patch): AttackDefinition {
    const { target, radius, includeNotReady, established, outward, ...attack } = defined;
    const kind = patch.attack ?? attack.kind;
    return {
        ...(kind === attack.kind ? attack : { kind }),
        target: patch.target ?? target,
        radius: patch.radius ?? radius,
        includeNotReady: patch.includeNotReady ?? (onlyReadyOf(kind) ? undefined : includeNotReady),
        established: patch.established ?? established,
        outward: patch.outward ?? outward,
    } as Attack & AttackDefinition;
}
