import { describeMilliseconds } from "../../shared/duration";
import { namesOf } from "../checks/look";
import { addRecovery } from "../report/report";
import { undo } from "../undo";
import { runStep, say } from "./step";

/**
 * The last step of undoing an experiment: sweeps away what a killed update may have left of it, then waits until
 * every check is content again, and fails loudly where one does not get so within a minute.
 */
runStep(async (plan, cluster) => {
    const { at: undoneAt, recoveredAfterMs } = await undo(cluster, plan, say);
    try {
        if (recoveredAfterMs !== null) addRecovery(plan, { undoneAt, recoveredAfterMs });
    } catch (error) {
        // All is undone: that its report cannot be written must not make an update of it that fails.
        say(`The run's report could not be completed: ${(error as Error).message}`);
    }
    say(
        recoveredAfterMs === null
            ? "The shop is gone, so there is nothing that could recover"
            : `Recovered: ${namesOf(plan)} ${plan.checks.length === 1 ? "is" : "are"} whole ${describeMilliseconds(recoveredAfterMs)} after the attack was undone`,
    );
    return { recoveredAfterMs };
});
