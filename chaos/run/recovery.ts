import { namesOf, observedSchema } from "../kinds/checks/observe";
import { problemOf } from "../cluster/problem";
import { isAttack, onlyObserves, runNameOf, undoneOf } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { activeLeftOf } from "../ending/left";
import { leaseFor, noteNotRecovered } from "../lease/lease";
import { endOf, hasNotBegun } from "../lease/lease-record";
import { NotRecoveredError, recover, recoveryTimeoutMs } from "../lease/recover";
import type { Journal } from "../report/journal-schema";
import { addRecovery } from "../report/report";
import { sinceUndone } from "../values/since";
import type { Step, StepContext } from "./contract";
import { sweep } from "./sweep";

/**
 * The first step of undoing an experiment whose attacks the update has not ended before, such as by `pulumi destroy`:
 * ends them in the right order, while the deadline Job is there. If another run attacks the namespace by now, nothing.
 *
 * @throws Error with all that failed: the engine deletes nothing then, and the deadline Job ends the attacks
 */
export const endAttacksStep: Step<"end-attacks"> = async ({ cluster, stack, plan, say }) => {
    const { others } = await leaseFor(cluster, { stack, plan });
    return { ended: others ? 0 : await endAttacks(cluster, activeLeftOf(plan), say) };
};

/**
 * The last step of undoing an experiment: removes what a killed update may have left, then waits until every check
 * holds again. A run that has attacked nobody, and done nothing, has nothing to recover from.
 *
 * @throws Error if a check does not hold within a minute, and sees the application: once, at the next try it succeeds
 */
export const recovery: Step<"recovery"> = async (context) => {
    const { cluster, plan, stack, say } = context;
    const { own, others } = await leaseFor(cluster, context);
    const runName = runNameOf(plan, stack);
    const end = own && endOf(own, runName);
    if (end?.aborted || onlyObserves(plan) || (own && hasNotBegun(own, runName))) {
        // Nothing has happened that could recover.
        await sweep(context);
        return { recoveredAfterMs: null };
    }
    const undone = await undo(context).catch((error: unknown) => {
        // An earlier try has failed for that: the application may be gone for good. Or another run attacks it.
        const isReported = end?.notRecovered ?? others !== undefined;
        // A program that a check starts is not there if the stack is destroyed from elsewhere.
        if (!(error instanceof NotRecoveredError) || !(isReported || error.unseen)) throw error;
        say(error.message);
        return undefined;
    });
    if (undone === undefined) return { recoveredAfterMs: null };
    const { at: undoneAt, recoveredAfterMs, checks } = undone;
    if (recoveredAfterMs === null) say("The application is gone, so nothing can recover");
    else reportRecovery(context, { undoneAt, recoveredAfterMs, checks });
    return { recoveredAfterMs };
};

/**
 * Removes what is left of an experiment, releases the lease, and waits until every check holds. If the attack had
 * ended earlier, by its deadline say, another stack may have begun one since: that is left alone. If the update has
 * ended the attacks before, the recovery is counted from then.
 *
 * @returns when the attacks were undone, and how long until every check held; null if the application is gone. With
 *   `checks` as of `Recovered`
 * @throws NotRecoveredError if a check does not hold within a minute. At the first time, a lease notes that
 */
export async function undo(context: StepContext) {
    const { plan, stack, cluster, say } = context;
    const { own, others, swept } = await sweep(context);
    if (others) say(others);
    if (swept > 0) say(`Removed what was left of ${undoneOf(plan)}: ${swept} ${swept === 1 ? "object" : "objects"}`);
    const end = own && endOf(own, runNameOf(plan, stack));
    const at = end?.at ?? Date.now();
    // Others may have written to the lease.
    if (end?.recoveredAfterMs !== undefined)
        return {
            ...end,
            recoveredAfterMs: end.recoveredAfterMs,
            checks: observedSchema.array().safeParse(end.checks).data,
        };
    const passedMs = Math.max(0, Date.now() - at);
    const recovered = await recover(cluster, plan, recoveryTimeoutMs).catch(async (error: unknown) => {
        const isToldFirst = error instanceof NotRecoveredError && !error.unseen && !end?.notRecovered;
        // If the note cannot be made, or another run has begun by now, the next try fails, too.
        if (isToldFirst) await noteNotRecovered(cluster, context, at).catch(() => undefined);
        throw error;
    });
    return recovered
        ? { at, recoveredAfterMs: passedMs + recovered.recoveredAfterMs, checks: recovered.checks }
        : { at, recoveredAfterMs: null, checks: undefined };
}

/**
 * Completes the report of a run with its recovery, and tells it. Everything is undone by then, so a report that cannot
 * be written does not fail the update.
 */
export function reportRecovery({ plan, stack, say }: StepContext, recovery: NonNullable<Journal["recovery"]>): void {
    try {
        addRecovery(plan, stack, recovery);
    } catch (error) {
        say(`The run's report could not be completed: ${problemOf(error)}`);
    }
    say(`Recovered: ${namesOf(plan)} succeeded again ${sinceUndone(recovery, isAttack(plan))}`);
}
