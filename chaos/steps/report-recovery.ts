import { namesOf } from "../checks/observe";
import { problemOf } from "../cluster/problem";
import { isAttack } from "../definition/plan";
import type { Journal } from "../report/journal-schema";
import { addRecovery } from "../report/report";
import { sinceUndone } from "../report/verdict";
import type { StepContext } from "./contract";

/**
 * Completes the report of a run with its recovery, and tells it. Everything is undone by then, so a report that cannot
 * be written does not fail the update.
 */
export function reportRecovery({ plan, stack, say }: StepContext, recovery: NonNullable<Journal["recovery"]>): void {
    try {
        addRecovery(plan, stack, recovery);
    } catch (error) {
        say(`The run's report could not be completed: ${problemOf(error)}`);
    }
    say(`Recovered: ${namesOf(plan)} succeeded again ${sinceUndone(recovery, isAttack(plan))}`);
}
