import { claimedByOthers } from "../claim";
import { unmarkAll } from "../targets/mark";
import { runStep } from "./step";

/** Takes the label off the targets again, unless another stack has marked its own since. */
runStep(async ({ namespace, experiment }, cluster) => {
    const others = await claimedByOthers(cluster, namespace);
    return { unmarked: others ? 0 : await unmarkAll(cluster, namespace, experiment) };
});
