import { earlyEndOf, leaseFor } from "../lifecycle/lease";
import { lastJournalOf } from "../report/journal-files";
import type { Conclusion } from "../report/conclusion";
import type { StepContext } from "./contract";

/**
 * The verdict of a run that an abort rule ended, and whose check was interrupted while it waited for recovery: its
 * journal was written by then. The attack is gone, so the check could not be done again. Never rejects.
 *
 * @returns undefined if the lease does not say that the run was ended, or this machine has no journal of that
 */
export async function keptVerdict({ cluster, plan, stack }: StepContext): Promise<Conclusion | undefined> {
    const { own } = await leaseFor(cluster, { stack, plan }).catch(() => ({ own: undefined }));
    const end = own && earlyEndOf(own);
    const journal = lastJournalOf(plan, stack);
    if (end === undefined || !journal?.aborted) return undefined;
    // An earlier run may have had the same plan.
    return end.at >= journal.startedAt && end.at <= journal.endedAt ? journal.conclusion : undefined;
}
