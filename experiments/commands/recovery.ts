import { describeMilliseconds } from "../../shared/duration";
import { namesOf } from "../checks/look";
import { claimedByOthers, release } from "../claim";
import { recover } from "../recover";
import { addRecovery } from "../report/report";
import { sweep } from "../sweep";
import { runStep, say } from "./step";

/**
 * The last step of undoing an experiment: sweeps away what a killed update may have left of it, then waits until
 * every check is content again, and fails loudly where one does not get so within a minute.
 */
runStep(async (plan, cluster) => {
    // Where the attack ended by its deadline another stack may have begun one since, which is not ours to end.
    const others = await claimedByOthers(cluster, plan);
    if (others) say(others);
    const swept = others ? 0 : await sweep(cluster, plan.namespace, plan.experiment);
    if (swept > 0) say(`Removed ${swept} objects that an update left behind which was cut short`);
    const undoneAt = Date.now();
    await release(cluster, plan);
    const recoveredAfterMs = await recover(cluster, plan);
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
