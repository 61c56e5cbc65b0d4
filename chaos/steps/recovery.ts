import { namesOf } from "../checks/observe";
import { describeMilliseconds } from "../duration";
import { undo } from "../lifecycle/undo";
import { addRecovery } from "../report/report";
import type { Step } from "./contract";

/**
 * The last step of undoing an experiment: removes what a killed update may have left, then waits until every check is
 * steady again.
 *
 * @throws Error if a check is not steady within a minute
 */
export const recovery: Step<"recovery"> = async ({ cluster, stack, plan, say }) => {
    const { at: undoneAt, recoveredAfterMs } = await undo(cluster, stack, plan, say);
    if (recoveredAfterMs === null) {
        say("The application is gone, so nothing can recover");
        return { recoveredAfterMs };
    }
    try {
        addRecovery(plan, stack, { undoneAt, recoveredAfterMs });
    } catch (error) {
        // Everything is undone: a report that cannot be written must not fail the update.
        say(`The run's report could not be completed: ${(error as Error).message}`);
    }
    const took = describeMilliseconds(recoveredAfterMs);
    say(`Recovered: ${namesOf(plan)} succeeded again ${took} after the attack was undone`);
    return { recoveredAfterMs };
};
