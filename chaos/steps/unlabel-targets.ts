import { restoreAll } from "../actions/scale";
import { leaseFor } from "../lifecycle/lease";
import { unlabelAll } from "../targets/label";
import type { Step } from "./contract";

/**
 * Removes the targets' labels and restores what the actions scaled, unless another stack has begun an experiment since.
 */
export const unlabelTargets: Step<"unlabel-targets"> = async ({ cluster, stack, plan }) => {
    const { others } = await leaseFor(cluster, { stack, plan });
    if (others !== undefined) return { unlabeled: 0, restored: 0 };
    const [unlabeled, restored] = await Promise.all([
        unlabelAll(cluster, plan.namespace),
        restoreAll(cluster, plan.namespace),
    ]);
    return { unlabeled, restored };
};
