import type { Cluster } from "../cluster/client";
import { labels } from "../cluster/labels";
import { problemOf } from "../cluster/problem";
import { isAttack, type Plan, type RunAttack } from "../definition/plan";
import { uidsOfAttacks } from "../ending/left";
import { isUnderWay } from "../lease/lease";
import { reason, ReasonError, type Reason } from "../values/reasons";
import { anotherRun } from "../values/texts";
import { resources } from "../cluster/resources";

/** A run whose attacks may have begun. */
export interface Begun {
    runName: string;
    attacks: readonly RunAttack[];
    /** The uids of its attacks' objects, as `runLasts` saw them first. */
    uids?: readonly (string | undefined)[];
}

/**
 * Why the attacks, or a run without any, are over, or why that is unknown. Undefined while they last.
 *
 * @param seen why they did not begin, or were not proven: what kept them until the run was over, or came of its end
 */
export async function whyRunIsOver(
    plan: Plan,
    cluster: Cluster,
    begun: Begun,
    seen?: Reason,
): Promise<Reason | undefined> {
    try {
        if (await runLasts(plan, cluster, begun)) return undefined;
    } catch (error) {
        return notSeen(error);
    }
    // The engine runs a check again that was killed, or that failed the update. Its attack is over by then.
    const { run } = plan;
    const ended = `${isAttack(plan) ? "the attack of " : ""}run ${run} has already ended`;
    return reason("run-over", `${ended}${lastSeen(seen)}. ${anotherRun(plan)}`);
}

const lastSeen = (seen: Reason | undefined) => (seen === undefined ? "" : `; last seen of it: ${seen.message}`);

/**
 * As `whyRunIsOver`, of attacks that have just been let begin. This machine may have slept, or Pulumi have been slow,
 * until the deadline Job had ended the run: whatever begins now would never be ended.
 */
export async function whyBegunTooLate(
    plan: Plan,
    cluster: Cluster,
    begun: Begun,
    seen?: Reason,
): Promise<Reason | undefined> {
    const over = await whyRunIsOver(plan, cluster, begun, seen);
    if (over !== undefined) return over;
    const { namespace } = plan;
    try {
        const labeled = (labelSelector: string) => cluster.all(resources.pod, { namespace, labelSelector });
        const [targets, attacked] = await Promise.all([labeled(labels.target), labeled(labels.attacked)]);
        // The Job removes both labels of a pod at once. It may not have come to the others yet.
        const isUnlabeled = attacked.some(({ metadata }) => metadata?.labels?.[labels.target] === undefined);
        if (targets.length > 0 && !isUnlabeled) return undefined;
    } catch (error) {
        return notSeen(error);
    }
    const lost = "a target has lost its label before its attack could begin";
    return reason("run-over", `${lost}${lastSeen(seen)}. ${anotherRun(plan)}`);
}

/**
 * Whether a run lasts: its attacks exist since the first look or, without any, it still has the lease. An attack that
 * somebody has deleted and made again was interrupted, and its end has begun.
 */
export async function runLasts(plan: Plan, cluster: Cluster, begun: Omit<Begun, "attacks">): Promise<boolean> {
    if (!isAttack(plan)) return isUnderWay(cluster, plan, begun.runName);
    const uids = await uidsOfAttacks(cluster, plan, begun.runName);
    if (uids === undefined) return false;
    begun.uids ??= uids;
    return uids.every((uid, index) => uid === begun.uids![index]);
}

/** A cluster that cannot be asked shows nothing: that is a verdict, too, not a failed update. */
export const notSeen = (error: unknown): Reason =>
    error instanceof ReasonError
        ? error.reason
        : reason("api-server-unavailable", `the cluster could not be asked: ${problemOf(error)}`);
