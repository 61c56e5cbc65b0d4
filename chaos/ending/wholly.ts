import type { Cluster } from "../cluster/client";
import { objectApi } from "../cluster/objects";
import type { Plan } from "../definition/plan";
import { leaseFor, type LeaseHolder, releaseLease } from "../lifecycle/lease";
import { endAttacks, type Say } from "./end";
import { leftOf, policiesOf } from "./left";

/**
 * Removes all that is left of an experiment, and releases the lease. If another run has that by now, removes only
 * what cannot be that run's.
 *
 * @returns the lease as it was, as `leaseFor`, and the number of objects that were removed, restored or lost labels
 */
export async function endWholly(run: LeaseHolder & { plan: Plan; cluster: Cluster; say: Say }) {
    const { stack, plan, cluster, say } = run;
    const { own, others } = await leaseFor(cluster, run);
    const swept = await endAttacks(objectApi(cluster), others ? policiesOf(plan, stack) : leftOf(plan), say);
    await releaseLease(cluster, run);
    return { own, others, swept };
}
