import type { Cluster } from "../cluster/client";
import { undoneOf, type Plan } from "../definition/plan";
import { leaseFor, releaseLease } from "./lease";
import { recover, recoveryTimeoutMs } from "./recover";
import { earlyEndOf } from "./run-end";
import { removeOwnPolicies, sweep } from "./sweep";

export interface Undone {
    /** When the attacks were undone, in milliseconds since the epoch. */
    at: number;
    /** Time until every check was steady, in milliseconds; null if the application is gone. */
    recoveredAfterMs: number | null;
}

/**
 * Removes what is left of an experiment, releases the lease, and waits until every check is steady. If the attack had
 * ended earlier, by its deadline say, another stack may have begun one since: that is left alone. If the update has
 * ended the attacks before, the recovery is counted from then.
 *
 * @throws NotRecoveredError if a check is not steady within a minute
 */
export async function undo(cluster: Cluster, stack: string, plan: Plan, say: (line: string) => void): Promise<Undone> {
    const holder = { stack, plan };
    const { own, others } = await leaseFor(cluster, holder);
    if (others) say(others);
    const swept = others
        ? await removeOwnPolicies(cluster, holder)
        : await sweep(cluster, plan.namespace, plan.experiment);
    if (swept > 0) say(`Removed what was left of ${undoneOf(plan)}: ${swept} ${swept === 1 ? "object" : "objects"}`);
    const end = own && earlyEndOf(own);
    const at = end?.at ?? Date.now();
    await releaseLease(cluster, holder);
    if (end?.recoveredAfterMs !== undefined) return { at, recoveredAfterMs: end.recoveredAfterMs };
    const passedMs = Math.max(0, Date.now() - at);
    const recoveredAfterMs = await recover(cluster, plan, recoveryTimeoutMs);
    return { at, recoveredAfterMs: recoveredAfterMs === null ? null : passedMs + recoveredAfterMs };
}
