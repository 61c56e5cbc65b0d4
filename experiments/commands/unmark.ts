import { claimedByOthers } from "../claim";
import { unmarkAll } from "../targets/mark";
import { runStep } from "./step";

/** Takes the label off the targets again, unless another stack has marked its own since. */
runStep(async (plan, cluster) => {
    const others = await claimedByOthers(cluster, plan);
    return { unmarked: others ? 0 : await unmarkAll(cluster, plan.namespace, plan.experiment) };
});
