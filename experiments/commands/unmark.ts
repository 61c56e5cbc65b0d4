import { restoreAll } from "../actions/scale";
import { claimedByOthers } from "../claim";
import { unmarkAll } from "../targets/mark";
import { runStep } from "./step";

/** Takes the labels off the targets again, and undoes what the actions scaled, unless another stack has begun its own since. */
runStep(async (plan, cluster) => {
    if (await claimedByOthers(cluster, plan)) return { unmarked: 0, restored: 0 };
    const [unmarked, restored] = await Promise.all([
        unmarkAll(cluster, plan.namespace),
        restoreAll(cluster, plan.namespace),
    ]);
    return { unmarked, restored };
});
