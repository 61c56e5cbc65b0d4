import { undo } from "../lifecycle/undo";
import type { Step } from "./contract";
import { reportRecovery } from "./report-recovery";

/**
 * The last step of undoing an experiment: removes what a killed update may have left, then waits until every check is
 * steady again.
 *
 * @throws Error if a check is not steady within a minute
 */
export const recovery: Step<"recovery"> = async (context) => {
    const { cluster, stack, plan, say } = context;
    const { at: undoneAt, recoveredAfterMs } = await undo(cluster, stack, plan, say);
    if (recoveredAfterMs === null) say("The application is gone, so nothing can recover");
    else reportRecovery(context, { undoneAt, recoveredAfterMs });
    return { recoveredAfterMs };
};
