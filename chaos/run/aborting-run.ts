import { settling } from "../values/async";
import type { Observed } from "../kinds/checks/observe";
import { problemOf } from "../cluster/problem";
import { isAccompanied, isAttack, type Plan } from "../definition/plan";
import { pageOfReason, ReasonError, sentenceOf, verdictLine } from "../values/reasons";
import { abortedJournal } from "../report/compose";
import { keepReport } from "../report/report";
import { anotherRun } from "../values/texts";
import type { StepContext } from "./contract";

/**
 * Does what must be done before the attacks begin. If it throws a `ReasonError`, the run ends with the verdict ABORTED.
 *
 * @param how.undo undoes what was done by then; called for any error
 * @param how.hasBegun whether the run has its steady state: the engine does not look for that again, so another run
 *   must be started. @default false
 * @param how.seen what was seen by then. @default nothing
 * @throws Error with the reason and the advice
 */
export async function abortingRun<T>(
    context: StepContext,
    act: () => Promise<T>,
    { undo, hasBegun = false, seen = {} }: HowToAbort,
): Promise<T> {
    const { plan, stack } = context;
    const startedAt = Date.now();
    try {
        return await settling(act);
    } catch (error) {
        await undo(error).catch(sayNotUndone(context));
        if (!(error instanceof ReasonError)) throw error;
        const { reason } = error;
        const advice = hasBegun ? withAnotherRun(plan, error.advice) : error.advice;
        try {
            const { waitedMs, checks = [] } = seen;
            keepReport(abortedJournal(plan, { stack, reason, startedAt, waitedMs, checks }));
        } catch (failure) {
            context.say(`The report could not be written: ${problemOf(failure)}`);
        }
        const aborted = verdictLine({ verdict: "ABORTED", code: reason.code, reason: sentenceOf(reason) });
        // A load may have been sent by then.
        const nothing = `Nothing was ${isAttack(plan) || isAccompanied(plan) ? "attacked" : "done"}.`;
        throw new Error(`${aborted} ${nothing} ${advice}\nSee ${pageOfReason(reason.code)}`);
    }
}

/** What the preparation of a run has seen, before anything is attacked. */
export interface Seen {
    /** For how long the run waited for what begins it, in milliseconds. */
    waitedMs?: number;
    checks?: Observed[];
}

interface HowToAbort {
    undo: (error: unknown) => Promise<unknown>;
    hasBegun?: boolean;
    seen?: Seen;
}

/** A setting that changes is another run, too. */
function withAnotherRun(plan: Plan, advice: string): string {
    const again = anotherRun(plan);
    const whole = advice.replace(/Start another run$/, again);
    return whole.endsWith(again) ? whole : `${whole}\nIf you change no setting: s${again.slice(1)}`;
}

/** What fails must not hide why the run ends. The lease expires; the deadline Job and the next update try again. */
export const sayNotUndone =
    ({ say }: StepContext) =>
    (failure: unknown) =>
        say(`Not everything could be undone yet: ${problemOf(failure)}`);
