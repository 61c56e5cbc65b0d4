import { endAttacks } from "../ending/end";
import { leftOf, policiesOf } from "../ending/left";
import { leaseFor, noteAborted, releaseLease } from "../lease/lease";
import type { Reason } from "../values/reasons";
import type { StepContext } from "./contract";

/**
 * Ends all that is left of an experiment, and releases the lease: several steps end with this. If another run has the
 * lease by now, ends only what cannot be that run's.
 *
 * @param aborted why the run was ABORTED: then the lease is not released, but says so. @default it was not
 * @returns the lease as it was, as `leaseFor`, and the number of objects that were removed, restored or lost labels
 * @throws Error with all that failed, as `endAttacks`: then the lease is kept
 */
export async function sweep(context: StepContext, aborted?: Reason) {
    const { stack, plan, cluster, say } = context;
    const { own, others } = await leaseFor(cluster, context);
    const swept = await endAttacks(cluster, others ? policiesOf(plan, stack) : leftOf(plan), say);
    await (aborted ? noteAborted(cluster, context, aborted) : releaseLease(cluster, context));
    return { own, others, swept };
}
