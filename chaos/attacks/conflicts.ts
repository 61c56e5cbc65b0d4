import { ReasonError } from "../reasons";
import type { RunAttack } from "./kind";
import { type Attack, attackKindOf } from "./registry";

/**
 * Refuses a run of which one attack denies what another needs: it would be found out under attack, and nothing would
 * be known.
 *
 * @throws ReasonError that names both, and the pod
 */
export function refuseConflicts(attacks: readonly RunAttack<Attack>[]): void {
    for (const needing of attacks) {
        const { found, origin } = needing.chosen;
        const needs = attackKindOf(needing.attack).needs?.(found);
        if (needs === undefined) continue;
        for (const { name, attack, chosen } of attacks) {
            const { inward } = attackKindOf(attack).proof(attack);
            const isDenied = inward && needs.ports.some((port) => inward.ports?.includes(port) ?? true);
            const target = isDenied && chosen.targets.find(({ pod }) => needs.pods.includes(pod));
            if (!target) continue;
            throw new ReasonError(
                "attack-refused",
                `${name} would cut off ${target.pod}, a pod of ${origin}, and ${needing.name} connects to each of them`,
                `Give ${name} a target outside of ${origin}, or have one experiment for each`,
            );
        }
    }
}
