import type { Cluster } from "../cluster/client";
import { objectApi } from "../cluster/objects";
import type { Plan } from "../definition/plan";
import { leaseFor, type LeaseHolder, releaseLease } from "../lifecycle/lease";
import type { Reason } from "../reasons";
import { endAttacks, type Say } from "./end";
import { noteAborted } from "./end-run";
import { leftOf, policiesOf } from "./left";

/**
 * Removes all that is left of an experiment, and releases the lease. If another run has that by now, removes only
 * what cannot be that run's.
 *
 * @param aborted why the run was ABORTED: then the lease is not released, but says so. @default it was not
 * @returns the lease as it was, as `leaseFor`, and the number of objects that were removed, restored or lost labels
 */
export async function endWholly(run: LeaseHolder & { plan: Plan; cluster: Cluster; say: Say }, aborted?: Reason) {
    const { stack, plan, cluster, say } = run;
    const { own, others } = await leaseFor(cluster, run);
    const swept = await endAttacks(objectApi(cluster), others ? policiesOf(plan, stack) : leftOf(plan), say);
    await (aborted ? noteAborted(cluster, run, aborted) : releaseLease(cluster, run));
    return { own, others, swept };
}
