/** Whether checks held, by their answers, and why. */
import type { Aborted } from "../kinds/checks/abort";
import type { Answer } from "../kinds/checks/answer";
import { type Baseline, type ConcludedChange, concludedChange, describeChange } from "../kinds/checks/change-limits";
import { type Bound, boundOf, describeShown } from "../kinds/checks/confidence";
import type { Observed, PlannedCheck } from "../kinds/checks/observe";
import { checkKindOf } from "../kinds/checks/registry";
import { withoutPeriod } from "../cluster/problem";
import { longestBaselineMs } from "../definition/change-mistakes";
import { isAttack, type Plan } from "../definition/plan";
import { answersFor, type Confidence, lowerBound } from "../values/bound";
import { isSeen } from "../values/compared";
import { describeMilliseconds } from "../values/duration";
import { decisive, reason as reasonOf, type Reason } from "../values/reasons";
import { describeShare, percentOf, reaches } from "../values/share";
import { compare, type Comparing, whyNotSeen, whyUndecided } from "./compared-check";
import {
    describeLate,
    describeLost,
    describeStability,
    describeStall,
    maxStalledShare,
    measure,
    type Measured,
} from "./measured";

export interface Judged {
    name: string;
    held: boolean;
    measured: Measured;
    reason: string;
    /** What the answers show. Absent if the check reads a state or may have held, and after an abort. */
    bound?: Bound;
    /** How they differ from those before the attack. Empty if nothing is compared, and after an abort. */
    changes: ConcludedChange[];
    /** Why it is not known whether the check held. */
    inconclusive?: Reason;
}

export interface Judging extends Comparing {
    /** Whether anything was attacked. @default true */
    underAttack?: boolean;
    /** Whether the reason names the check, because another one counts the same. @default false */
    isNamed?: boolean;
}

export function judgeCheck(planned: PlannedCheck, answers: readonly Answer[], judging: Judging): Judged {
    const { name, check, successRate, confidence } = planned;
    const { attackedAt, graceMs, underAttack = true, isNamed, aborted } = judging;
    const measured = measure(answers, attackedAt, graceMs);
    const named = isNamed ? `${name}: ` : "";
    if (aborted?.check === name)
        return { name, held: false, measured, reason: named + whyAborted(check, answers, judging), changes: [] };
    const { counted, good, unseen, stalled } = measured;
    const isGoodWith = (number: number) => successRate === undefined || reaches(successRate, number, counted);
    const isGood = counted > 0 && isGoodWith(good);
    const compared = counted > 0 && aborted === undefined ? compare(planned, answers, judging) : [];
    // Without an answer of the application there is nothing to say of a change.
    const changes = compared
        .filter(({ before, during }) => before.some(isSeen) && during.some(isSeen))
        .map(({ limit, change }) => concludedChange(limit, change));
    const exceeds = changes.some(({ isWithin }) => isWithin === false);
    // A bound needs a number of answers that does not depend on them. An abort rule ends the window once many are bad,
    // so there is none then. In other runs with a rule it holds: they only have it more seldom than without one.
    const bound =
        counted > 0 && aborted === undefined && checkKindOf(check).isTrial
            ? boundOf(measured, isGood, confidence)
            : undefined;
    const mustShow = bound?.atLeast && confidence ? `, required: at least ${describeShare(confidence.atLeast)}` : "";
    const requirements = [
        ...(successRate === undefined ? [] : [`required: ${describeShare(successRate)}`]),
        ...(bound ? [`${describeShown(bound)}${mustShow}`] : []),
    ];
    const got = [
        `${named}${percentOf(good, counted)} of ${counted} ${describe(check)} ` +
            `${underAttack ? "under attack" : "without an attack"}` +
            (requirements.length > 0 ? ` (${requirements.join("; ")})` : ""),
        ...changes.map((change) => describeChange(change, underAttack ? "under attack" : "in the window")),
    ].join("; ");
    const stall = describeStall(name, measured);
    const also = (...texts: string[]) => texts.flatMap((text) => text && `; ${text}`).join("");
    const alsoStalled = also(stall, describeLate(name, measured));
    const failure = `${got}${alsoStalled}${also(describeLost(measured))}`;
    if (isGood) {
        const reason = `${got}; ${describeStability(measured, underAttack)}${alsoStalled}.`;
        if (stalled && stalled.answers > counted * maxStalledShare) {
            const message = `${stall} (allowed: ${describeShare(maxStalledShare)} of them)`;
            return { name, held: false, measured, reason, changes, inconclusive: reasonOf("sender-stalled", message) };
        }
        if (exceeds) return { name, held: false, measured, reason: failure, bound, changes };
        const why = confidence && whyNotShown(confidence, measured, aborted);
        const unseenDecide = whyNotSeen(planned, compared, answers, measured);
        const undecided = unseenDecide === undefined ? whyUndecided(planned, compared, judging) : undefined;
        if ([why, unseenDecide, undecided].every((one) => one === undefined))
            return { name, held: true, measured, reason, bound, changes };
        const inconclusive = decisive([
            unseenDecide,
            why === undefined ? undefined : reasonOf("confidence-not-reached", `${got}${alsoStalled}; ${why}`),
            undecided === undefined ? undefined : reasonOf("limit-undecided", `${got}${alsoStalled}; ${undecided}`),
        ]);
        return { name, held: false, measured, reason, changes, inconclusive };
    }
    const reason = `${failure}; ${describeLastFailure(answers)}`;
    const judged: Judged = { name, held: false, measured, reason, changes };
    if (counted === 0) {
        const message =
            `the check ${name} sent no request ${graceMs > 0 ? "after the grace period" : "within the window"}; ` +
            "make its interval shorter, or the window longer";
        return { ...judged, inconclusive: reasonOf("too-few-answers", message) };
    }
    // The check might have held if these answers had been good.
    if (exceeds || !isGoodWith(good + unseen)) return { ...judged, bound };
    if (stalled && stalled.answers * 2 >= unseen) return { ...judged, inconclusive: reasonOf("sender-stalled", stall) };
    const lastUnseen = answers.findLast((answer) => answer.unseen)?.problem ?? "no answer";
    const message =
        `${percentOf(unseen, counted)} of ${counted} requests of the check ${name} did not reach the application; ` +
        `the last: ${withoutPeriod(lastUnseen)}`;
    return { ...judged, inconclusive: reasonOf("application-not-seen", message) };
}

export interface Recorded {
    plan: Pick<Plan, "attacks" | "checks" | "window">;
    checks: readonly Observed[];
    startedAt: number;
    attackedAt?: number;
    aborted?: Aborted;
    baseline?: readonly Baseline[];
}

export function judgeChecks({ plan, checks, startedAt, attackedAt = startedAt, aborted, baseline }: Recorded) {
    const judging = {
        attackedAt,
        graceMs: plan.window.graceMs,
        underAttack: isAttack(plan),
        aborted,
        longestBaselineMs: longestBaselineMs(plan.checks.filter(({ limits }) => limits !== undefined)),
    };
    return plan.checks.map((planned) => {
        const { answers = [] } = checks.find(({ name }) => name === planned.name) ?? {};
        const isNamed = plan.checks.some((one) => one !== planned && describe(one.check) === describe(planned.check));
        const before = baseline?.find(({ name }) => name === planned.name)?.outcomes;
        return { answers, ...judgeCheck(planned, answers, { ...judging, isNamed, before }) };
    });
}

const describe = (check: PlannedCheck["check"]) => checkKindOf(check).describeSuccess(check);

/** Why the answers do not show what they must. Undefined if they do. */
function whyNotShown(
    confidence: Confidence,
    { good, unseen, counted }: Measured,
    aborted?: Aborted,
): string | undefined {
    if (aborted !== undefined) return "the window ended early";
    if (lowerBound(good, counted, confidence.level) >= confidence.atLeast) return undefined;
    const atLeast = describeShare(confidence.atLeast);
    // Otherwise more answers would have as many more bad ones.
    if (good <= confidence.atLeast * counted) return `at this rate, no number of answers shows ${atLeast}`;
    const bad = counted - good;
    const what = unseen > 0 ? "bad or unseen" : "bad";
    const among = bad === 0 ? "" : ` if no more than ${bad} of them ${bad === 1 ? "is" : "are"} ${what}`;
    return `to show ${atLeast} takes ${answersFor(confidence, bad)} answers${among}`;
}

/** Why a check failed whose abort rule has ended the window, even if it might have held in the whole window. */
function whyAborted(
    check: PlannedCheck["check"],
    answers: readonly Answer[],
    { aborted, underAttack = true }: Judging,
): string {
    const { afterMs, rate, answers: count, below, overMs } = aborted!;
    return (
        `aborted after ${describeMilliseconds(afterMs)}: ${rate} of ${count} ` +
        `${describe(check)} ${underAttack ? "" : "without an attack "}in the last ` +
        `${describeMilliseconds(overMs)} (abort below ${below}); ${describeLastFailure(answers)}`
    );
}

function describeLastFailure(answers: readonly Answer[]): string {
    const problem = answers.findLast((answer) => !answer.good && !answer.unseen)?.problem ?? "no answer";
    return `last failure: ${problem}`;
}
