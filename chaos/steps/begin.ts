import { attackKindOf } from "../attacks/registry";
import { objectApi } from "../cluster/objects";
import type { RunAttack } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { ofPlan } from "../ending/left";
import { decisive, type Reason } from "../reasons";
import { notSeen, whyBegunTooLate } from "./attacks-last";
import type { StepContext, StepInputs } from "./contract";

/**
 * Begins the attacks that do not begin by themselves, once all of these are ready.
 *
 * @returns why one has not begun, or that the attacks are over, and then none lasts
 */
export async function beginAttacks(
    { plan, cluster }: StepContext,
    attacks: readonly RunAttack[],
    given: Pick<StepInputs, "steadyState" | "attackObjects">,
): Promise<Reason | undefined> {
    const begun = attacks.filter(({ attack }) => attackKindOf(attack).begin !== undefined);
    if (begun.length === 0) return undefined;
    let problem: Reason | undefined;
    try {
        const notReady = begun.map(async (one) => attackKindOf(one.attack).whyNotReady?.(one, cluster));
        problem = decisive(await Promise.all(notReady));
        if (problem === undefined) for (const one of begun) await attackKindOf(one.attack).begin?.(one, cluster);
    } catch (error) {
        problem = notSeen(error).inconclusive;
    }
    const over = await whyBegunTooLate(plan, cluster, given);
    // What fails is tried again by the undo.
    if (over !== undefined)
        await endAttacks(objectApi(cluster), ofPlan(plan, given.steadyState.runName)).catch(() => undefined);
    return decisive([problem, over]);
}
