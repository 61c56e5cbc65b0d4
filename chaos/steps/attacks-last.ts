import { objectTypeOf } from "../attacks/objects";
import { type Cluster, ignoreNotFound } from "../cluster/client";
import { problemOf } from "../cluster/problem";
import { isAttack, type Plan } from "../definition/plan";
import { isUnderWay } from "../lifecycle/lease";
import type { InconclusiveReason } from "../proof/outcome";
import { remedy } from "../remedy";

/** Why the attacks, or a run without any, are over, or why that is unknown. Undefined while they last. */
export async function whyOver(
    plan: Plan,
    cluster: Cluster,
    objects: readonly string[],
): Promise<InconclusiveReason | undefined> {
    try {
        if (await attacksExist(plan, cluster, objects)) return undefined;
    } catch (error) {
        return notSeen(error).inconclusive;
    }
    // The engine runs a check again that was killed, or that failed the update. Its attack is over by then.
    const { run } = plan;
    return (
        `${isAttack(plan) ? "the attack of " : ""}run ${run} has already ended, by its deadline or an earlier ` +
        "update. Start another run: " +
        remedy(plan, "run", `${run} again`)
    );
}

/**
 * Whether the attacks exist; of a run without any, whether it still has the lease.
 *
 * @param objects names of the attacks' objects, in the order of the plan
 */
export async function attacksExist(plan: Plan, cluster: Cluster, objects: readonly string[]): Promise<boolean> {
    const { attacks, namespace } = plan;
    if (!isAttack(plan)) return isUnderWay(cluster, plan);
    const found = await Promise.all(
        attacks.map(({ attack }, index) =>
            ignoreNotFound(objectTypeOf(attack).read(cluster, { name: objects[index]!, namespace })),
        ),
    );
    return found.every((object) => object !== undefined);
}

/** A cluster that cannot be asked shows nothing: that is a verdict, too, not a failed update. */
export const notSeen = (error: unknown) => ({
    inconclusive: `the cluster could not be asked: ${problemOf(error)}`,
});
