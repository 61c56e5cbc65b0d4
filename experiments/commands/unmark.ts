import { unmarkAll } from "../targets/mark";
import { runStep } from "./step";

/** Takes the label off the targets again. */
runStep(async ({ namespace, experiment }, cluster) => ({ unmarked: await unmarkAll(cluster, namespace, experiment) }));
