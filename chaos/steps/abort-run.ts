import type { Observed } from "../checks/observe";
import { isAttack } from "../definition/plan";
import { pageOfReason, ReasonError, sentenceOf, verdictLine } from "../reasons";
import { abortedJournal } from "../report/compose";
import { keepReport } from "../report/report";
import type { StepContext } from "./contract";

/**
 * Does what must be done before the attacks begin. If it throws a `ReasonError`, the run ends with the verdict ABORTED.
 *
 * @param checks what the checks have seen by then. @default nothing
 * @throws Error with the reason and the advice
 */
export async function abortingRun<T>(
    { plan, stack }: StepContext,
    act: () => Promise<T>,
    checks: () => Observed[] | undefined = () => undefined,
): Promise<T> {
    const startedAt = Date.now();
    try {
        return await act();
    } catch (error) {
        if (!(error instanceof ReasonError)) throw error;
        const { reason, advice } = error;
        keepReport(abortedJournal(plan, { stack, reason, startedAt, checks: checks() ?? [] }));
        const aborted = verdictLine({ verdict: "ABORTED", code: reason.code, reason: sentenceOf(reason) });
        const nothing = `Nothing was ${isAttack(plan) ? "attacked" : "done"}.`;
        throw new Error(`${aborted} ${nothing} ${advice.replace(/(?<![.!?])$/, "")}\nSee ${pageOfReason(reason.code)}`);
    }
}
