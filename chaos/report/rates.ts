/** Success rates with what they show, for people. */
import { type Bound, describeShown } from "../kinds/checks/confidence";
import { isAttack, type Plan } from "../definition/plan";
import { judgeChecks, type Recorded } from "./judged-check";
import type { Verdict } from "./verdict";

/** Such as `45, 93.3% of 30 succeeded after the grace period (95% confidence: at least 80.4%)`; or `3, none counted` */
export function describeRequests(recorded: Recorded & { conclusion: Rated & { verdict: Verdict; requests: number } }) {
    const { plan, conclusion } = recorded;
    const { verdict, requests, successRate } = conclusion;
    // An aborted run has answers of the steady state only.
    const isCounted = verdict !== "ABORTED" && judgeChecks(recorded).some(({ measured }) => measured.counted > 0);
    const rate = { successRate, bound: boundOfRun(recorded) };
    return `${requests}, ${isCounted ? successOf(plan, rate) : "none counted"}`;
}

interface Rate {
    successRate: string;
    bound?: Bound;
}

interface Rated {
    successRate: string;
    checks: readonly Rate[];
}

/** What all answers of a run show: those of several checks differ in their chances, so only if it has one check. */
export const boundOfRun = ({ plan, conclusion }: { plan: Pick<Plan, "checks">; conclusion: Rated }) =>
    plan.checks.length === 1 ? conclusion.checks[0]?.bound : undefined;

export const successOf = (plan: Pick<Plan, "attacks">, { successRate, bound }: Rate): string =>
    `${successRate}${ofCounted(bound)} succeeded${isAttack(plan) ? " after the grace period" : ""}${inBrackets(bound)}`;

/** Such as `93.3% of 30 (95% confidence: at least 80.4%)`. */
export const rateOf = ({ successRate, bound }: Rate): string => `${successRate}${ofCounted(bound)}${inBrackets(bound)}`;

/** Only answers after the grace period count. */
const ofCounted = (bound: Bound | undefined) => (bound ? ` of ${bound.answers}` : "");
const inBrackets = (bound: Bound | undefined) => (bound ? ` (${describeShown(bound)})` : "");
