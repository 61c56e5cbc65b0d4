import type { Observed } from "../checks/observe";
import { isAttack } from "../definition/plan";
import { abortedJournal } from "../report/compose";
import { keepReport } from "../report/report";
import type { StepContext } from "./contract";

export interface AbortedRun {
    /** Why nothing was attacked: a sentence. */
    reason: string;
    /** When the step began, in milliseconds since the epoch. */
    startedAt: number;
    /** What the checks have seen. @default nothing */
    checks?: Observed[];
    /** What to do about it: sentences. */
    advice: string;
}

/** Ends a run before its attacks begin, with the verdict ABORTED. @throws Error with the reason and the advice */
export function abortRun({ plan, stack }: StepContext, { reason, startedAt, checks = [], advice }: AbortedRun): never {
    keepReport(abortedJournal(plan, { stack, reason, startedAt, checks }));
    throw new Error(`ABORTED: ${reason} Nothing was ${isAttack(plan) ? "attacked" : "done"}. ${advice}`);
}
