import type { Observed } from "../checks/observe";
import { problemOf } from "../cluster/problem";
import { isAttack } from "../definition/plan";
import { pageOfReason, ReasonError, sentenceOf, verdictLine } from "../reasons";
import { abortedJournal } from "../report/compose";
import { keepReport } from "../report/report";
import type { StepContext } from "./contract";

/**
 * Does what must be done before the attacks begin. If it throws a `ReasonError`, the run ends with the verdict ABORTED.
 *
 * @param how.undo undoes what was done by then, whatever was thrown
 * @param how.checks what the checks have seen by then. @default nothing
 * @throws Error with the reason and the advice
 */
export async function abortingRun<T>(
    context: StepContext,
    act: () => Promise<T>,
    { undo, checks }: { undo: (error: unknown) => Promise<unknown>; checks?: () => Observed[] | undefined },
): Promise<T> {
    const { plan, stack } = context;
    const startedAt = Date.now();
    try {
        return await act();
    } catch (error) {
        await undo(error).catch(sayNotUndone(context));
        if (!(error instanceof ReasonError)) throw error;
        const { reason, advice } = error;
        keepReport(abortedJournal(plan, { stack, reason, startedAt, checks: checks?.() ?? [] }));
        const aborted = verdictLine({ verdict: "ABORTED", code: reason.code, reason: sentenceOf(reason) });
        const nothing = `Nothing was ${isAttack(plan) ? "attacked" : "done"}.`;
        throw new Error(`${aborted} ${nothing} ${advice.replace(/(?<![.!?])$/, "")}\nSee ${pageOfReason(reason.code)}`);
    }
}

/** What fails must not hide why the run ends. The lease expires; the deadline Job and the next update try again. */
export const sayNotUndone =
    ({ say }: StepContext) =>
    (failure: unknown) =>
        say(`Not everything could be undone yet: ${problemOf(failure)}`);
