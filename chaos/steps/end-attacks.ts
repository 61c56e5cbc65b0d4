import { objectApi } from "../cluster/objects";
import { endAttacks } from "../ending/end";
import { leftOf } from "../ending/left";
import { leaseFor } from "../lifecycle/lease";
import type { Step } from "./contract";

/**
 * The first step of undoing an experiment whose attacks the update has not ended before, such as by `pulumi destroy`:
 * ends them in the right order, while the deadline Job is there. If another run attacks the namespace by now, nothing.
 *
 * @throws Error with all that failed: the engine deletes nothing then, and the deadline Job ends the attacks
 */
export const endAttacksStep: Step<"end-attacks"> = async ({ cluster, stack, plan }) => {
    const { others } = await leaseFor(cluster, { stack, plan });
    return { ended: others ? 0 : await endAttacks(objectApi(cluster), leftOf(plan)) };
};
