import type { Aborted } from "../kinds/checks/abort";
import { type Answer, isStalled } from "../kinds/checks/answer";
import {
    type Baseline,
    type ConcludedChange,
    concludedChange,
    describeChange,
    describeLimit,
    outcomesOf,
} from "../kinds/checks/change-limits";
import { type Bound, boundOf, describeShown } from "../kinds/checks/confidence";
import type { Observed, PlannedCheck } from "../kinds/checks/observe";
import { checkKindOf } from "../kinds/checks/registry";
import { withoutPeriod } from "../cluster/problem";
import { longestBaselineMs } from "../definition/change-mistakes";
import { isAttack, type Plan } from "../definition/plan";
import { answersFor, type Confidence, lowerBound } from "../values/bound";
import {
    asIfSeen,
    type Change,
    type ChangeLimit,
    changeOf,
    isSeen,
    type Outcome,
    timesToDecide,
} from "../values/compared";
import { describeMilliseconds, durationWithin, formatDuration, times } from "../values/duration";
import { greatestOf } from "../values/extremes";
import { decisive, reason as reasonOf, type Reason, type ReasonCode, sentenceOf } from "../values/reasons";
import { describeShare, percentOf, reaches } from "../values/share";

export const verdicts = ["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED"] as const;
export type Verdict = (typeof verdicts)[number];

/** These are about one check: of the others, it is known whether they held. */
export const reasonsOfOneCheck: readonly ReasonCode[] = [
    "sender-stalled",
    "load-not-delivered",
    "application-not-seen",
    "limit-undecided",
    "confidence-not-reached",
    "too-few-answers",
];

/** For how many answers this machine was late, and by how much at most. */
interface Stalled {
    answers: number;
    forMs: number;
}

/** What the answers of a check add up to. Times are milliseconds since the attack was proven; see `Judging`. */
export interface Measured {
    /** All answers, including those in the grace period. */
    requests: number;
    /** Answers after the grace period. Only these count for the verdict. */
    counted: number;
    /** Good answers among the counted. */
    good: number;
    /** Counted answers that say nothing about the application. */
    unseen: number;
    /** Those of them for which this machine was too late, and by how much at most. Undefined if there are none. */
    stalled?: Stalled;
    /** Counted answers that say something, though this machine was `noticeableMs` late. Undefined if there are none. */
    late?: Stalled;
    /** Undefined if no answer of the application was bad. */
    firstFailureMs?: number;
    /** From this time on, all answers were good. Undefined if the last one was bad, or if there was none. */
    stableAfterMs?: number;
}

/** @param answers of one check, in the order of asking */
export function measure(answers: readonly Answer[], attackedAt: number, graceMs: number): Measured {
    const counted = answers.filter(({ at }) => at >= attackedAt + graceMs);
    const seen = answers.filter(({ unseen }) => !unseen);
    const stalled = stalledAmong(counted.filter(isStalled));
    const late = stalledAmong(counted.filter((one) => !isStalled(one) && (one.stalledMs ?? 0) >= noticeableMs));
    const firstBad = seen.find(({ good }) => !good);
    const lastBad = seen.findLastIndex(({ good }) => !good);
    const stable = lastBad === -1 && seen.length > 0 ? attackedAt : seen[lastBad + 1]?.at;
    // A corrected clock may be behind the moment of the proof.
    const sinceAttackMs = (at: number) => Math.max(0, at - attackedAt);
    return {
        requests: answers.length,
        counted: counted.length,
        good: counted.filter(({ good }) => good).length,
        unseen: counted.filter(({ unseen }) => unseen).length,
        ...(stalled && { stalled }),
        ...(late && { late }),
        firstFailureMs: firstBad && sinceAttackMs(firstBad.at),
        stableAfterMs: stable === undefined ? undefined : sinceAttackMs(stable),
    };
}

function stalledAmong(answers: readonly Answer[]): Stalled | undefined {
    const stalls = answers.flatMap(({ stalledMs }) => stalledMs ?? []);
    return stalls.length === 0 ? undefined : { answers: stalls.length, forMs: greatestOf(stalls) };
}

/** The least delay of this machine that the reason of a verdict may mention, in milliseconds. */
const noticeableMs = 100;

/** What several checks add up to: they are stable once the last of them is. */
export function together(measured: readonly Measured[]): Measured {
    const sum = (of: (one: Measured) => number) => measured.reduce((total, one) => total + of(one), 0);
    const failures = measured.flatMap(({ firstFailureMs }) => firstFailureMs ?? []);
    const stable = measured.map(({ stableAfterMs }) => stableAfterMs);
    return {
        requests: sum((one) => one.requests),
        counted: sum((one) => one.counted),
        good: sum((one) => one.good),
        unseen: sum((one) => one.unseen),
        firstFailureMs: failures.length === 0 ? undefined : Math.min(...failures),
        stableAfterMs: stable.every((ms) => ms !== undefined) ? Math.max(...stable) : undefined,
    };
}

/**
 * If this machine is too late for a larger share of a check's requests, the check did not have the load that it was to
 * have, so it does not hold, even if enough answers are good.
 */
const maxStalledShare = 0.1;

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

export interface Judging {
    /** When the attack was proven; without one, when the run began. */
    attackedAt: number;
    graceMs: number;
    /** Whether anything was attacked. @default true */
    underAttack?: boolean;
    /** Whether the reason names the check, because another one counts the same. @default false */
    isNamed?: boolean;
    /** Set if the abort rule of a check has ended the window. */
    aborted?: Aborted;
    /** Its answers before the attack. Absent if the check is not compared with them. */
    before?: readonly Outcome[];
    /** How long a baseline of the run may be. @default that of a run with only this check */
    longestBaselineMs?: number;
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

/** A limit, and what the answers before and under attack show of it. */
interface Compared {
    limit: ChangeLimit;
    before: readonly Outcome[];
    during: readonly Outcome[];
    change: Change;
}

function compare(
    { limits = [] }: PlannedCheck,
    answers: readonly Answer[],
    { attackedAt, graceMs, before }: Judging,
): Compared[] {
    if (before === undefined) return [];
    const during = outcomesOf(answers.filter(({ at }) => at >= attackedAt + graceMs));
    return limits.map((limit) => ({ limit, before, during, change: changeOf(before, during, limit) }));
}

/** Whether it is open if a limit holds only because some answers say nothing, or not how fast the application was. */
function whyNotSeen(
    { name }: PlannedCheck,
    compared: readonly Compared[],
    answers: readonly Answer[],
    { stalled }: Measured,
): Reason | undefined {
    const open = compared.find(({ change }) => change.isWithin === undefined);
    if (open === undefined) return undefined;
    const { limit, before, during } = open;
    const seen = [asIfSeen(before), asIfSeen(during)] as const;
    const areAllUnseen = seen.some(({ length }) => length === 0);
    if (!areAllUnseen && !isDecidedBy([before, during], seen, limit)) return undefined;
    const count = (outcomes: readonly Outcome[], is: (one: Outcome) => boolean) => outcomes.filter(is).length;
    const isUnseen = (one: Outcome) => !isSeen(one);
    const [lateBefore, lateDuring] = [before, during].map((all) => count(all, (one) => typeof one === "object"));
    const lostBefore = count(before, isUnseen);
    const stalledDuring = lateDuring! + (stalled?.answers ?? 0);
    const lostDuring = count(during, isUnseen) - (stalled?.answers ?? 0);
    const numbers = (inWindow: number, earlier: number) =>
        `${inWindow} of ${during.length} requests of the check ${name} in the window, and ${earlier} of ` +
        `${before.length} before it,`;
    const leavesOpen = `leaves the limit of its ${limit.of === "successRate" ? "success rate" : limit.of} open`;
    if (lateBefore! + stalledDuring >= lostBefore + lostDuring)
        return reasonOf(
            "sender-stalled",
            `${numbers(stalledDuring, lateBefore!)} were sent, or their answers read, late, which ${leavesOpen}`,
        );
    const last = answers.findLast((answer) => answer.unseen)?.problem;
    return reasonOf(
        "application-not-seen",
        `${numbers(lostDuring, lostBefore)} did not reach the application, which ${leavesOpen}` +
            (last === undefined ? "" : `; the last: ${withoutPeriod(last)}`),
    );
}

type Samples = readonly [before: readonly Outcome[], during: readonly Outcome[]];

/** Whether other answers in the place of some would decide a limit, at once or with more answers than there were. */
function isDecidedBy(answers: Samples, others: Samples, limit: ChangeLimit): boolean {
    if (changeOf(...others, limit).isWithin !== undefined) return true;
    return timesToDecide(...answers, limit) === undefined && timesToDecide(...others, limit) !== undefined;
}

/** Why it is open whether a limit holds, with what may decide it. Undefined if all hold. */
function whyUndecided(
    { limits, intervalMs }: PlannedCheck,
    compared: readonly Compared[],
    { aborted, longestBaselineMs: mostBaselineMs = longestBaselineMs([{ intervalMs }]) }: Judging,
): string | undefined {
    if (limits === undefined) return undefined;
    if (aborted !== undefined) return "the window ended early";
    const open = compared.find(({ change }) => change.isWithin === undefined);
    if (open === undefined) return compared.length > 0 ? undefined : "its answers before the attack are not known";
    const { limit, before, during, change } = open;
    const uneven = describeUneven(limit, change, { before: before.length, during: during.length });
    const factor = timesToDecide(before, during, limit);
    if (factor === undefined)
        return `${uneven}the change is too near to its limit, ${describeLimit(limit)}, to decide it by more answers`;
    const lengthOf = (number: number) => Math.ceil((number * factor * intervalMs) / 1_000) * 1_000;
    const [beforeMs, duringMs] = [lengthOf(before.length), lengthOf(during.length)];
    const more = `${uneven}about ${Number(factor.toFixed(1))} times as many answers of this kind may decide it`;
    const longest = { before: formatDuration(mostBaselineMs), during: times.duration.most };
    if (beforeMs > mostBaselineMs || durationWithin(times.duration, formatDuration(duringMs)) === undefined)
        return (
            `${more}, which no allowed time has at this interval: a baseline of at most ${longest.before} and a ` +
            `window of at most ${longest.during}`
        );
    return `${more}: a baseline of ${formatDuration(beforeMs)} and a window of ${formatDuration(duringMs)}`;
}

/** That answers count as fewer, where it makes half of them or more worthless. Empty otherwise. */
function describeUneven({ of }: ChangeLimit, { independent }: Change, all: { before: number; during: number }): string {
    const what = of === "successRate" ? "bad" : "slow";
    const told = (["before", "during"] as const).flatMap((when) =>
        independent[when] <= all[when] / 2
            ? `the ${all[when]} ${when === "before" ? "before the attack" : "in the window"} count as ` +
              `${Math.floor(independent[when])} independent ones`
            : [],
    );
    return told.length === 0 ? "" : `${what} answers lie unevenly, so ${told.join(", and ")}; `;
}

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

/** For how many requests this machine was too late. Empty if for none. */
function describeStall(name: string, { counted, stalled }: Measured): string {
    if (!stalled) return "";
    const { answers, forMs } = stalled;
    const of = `${counted} ${counted === 1 ? "request" : "requests"} of the check ${name}`;
    return (
        `${answers} of ${of} ${answers === 1 ? "was" : "were"} not sent, or the answer not read, in time: the sender ` +
        `stalled for up to ${describeMilliseconds(forMs)}`
    );
}

/** For how many of the other requests this machine was late. Empty if for few: then it hardly changed the load. */
function describeLate(name: string, { counted, late }: Measured): string {
    if (!late || late.answers <= counted * maxStalledShare) return "";
    return (
        `${late.answers} of ${counted} requests of the check ${name} were sent, or their answers read, up to ` +
        `${describeMilliseconds(late.forMs)} late, and count`
    );
}

const lostOf = ({ unseen, stalled }: Measured) => unseen - (stalled?.answers ?? 0);

/** How many requests did not reach the application, for whichever bounds are wider. Empty if none. */
function describeLost(measured: Measured): string {
    const lost = lostOf(measured);
    const of = `${lost} of ${measured.counted} ${measured.counted === 1 ? "request" : "requests"}`;
    return lost === 0 ? "" : `${of} did not reach the application`;
}

function describeStability(measured: Measured, underAttack?: boolean): string {
    const { firstFailureMs, stableAfterMs } = measured;
    const lost = lostOf(measured);
    if (firstFailureMs === undefined)
        return lost === 0 ? "none failed" : `none failed, but ${lost} did not see the application`;
    if (stableAfterMs === undefined) return "not stable: the last answer was bad";
    return `stable ${sinceAttack(stableAfterMs, underAttack)}`;
}

/**
 * The verdict of a run that was not aborted, and why. Without attacks, there is none to prove. If some checks failed,
 * the reason names only those.
 *
 * | verdict      | when                                                                                             |
 * | ------------ | ------------------------------------------------------------------------------------------------ |
 * | ABORTED      | nothing was attacked: no steady state, a missing right, no target, …; see `abortingRun`          |
 * | INCONCLUSIVE | an attack is not proven; or no check failed beyond doubt, and of some it is unknown if they held |
 * | FAILED       | each attack is proven, and a check failed beyond doubt, even if another check is unknown;        |
 * |              | or an abort rule ended the run, and each attack was proven until then                            |
 * | PASSED       | each attack is proven, and every check held                                                      |
 *
 * @param unproven why no check can be judged: the attack is not proven, or something else spoilt the run
 * @returns with the code of the reason that counts, if it is INCONCLUSIVE
 */
export function judge(
    checks: readonly Judged[],
    unproven: readonly (Reason | undefined)[] = [],
): { verdict: Exclude<Verdict, "ABORTED">; code?: ReasonCode; reason: string } {
    const failed = checks.filter(({ held, inconclusive }) => !held && inconclusive === undefined);
    const unknown = failed.length > 0 ? [] : checks.map(({ inconclusive }) => inconclusive);
    const inconclusive = decisive([...unproven, ...unknown]);
    if (inconclusive !== undefined)
        return { verdict: "INCONCLUSIVE", code: inconclusive.code, reason: sentenceOf(inconclusive) };
    const told = failed.length > 0 ? failed : checks;
    const sentences = told.map(({ reason }) => reason.replace(/(?<![.!?])$/, told.length > 1 ? "." : ""));
    return { verdict: failed.length > 0 ? "FAILED" : "PASSED", reason: sentences.join(" ") };
}

/** Such as `45, 93.3% succeeded after the grace period (95% confidence: at least 80.4%)`, or `3, none counted`. */
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
    checks: readonly (Rate & { name: string })[];
}

/** What all answers of a run show: those of several checks differ in their chances, so only if it has one check. */
export const boundOfRun = ({ plan, conclusion }: { plan: Pick<Plan, "checks">; conclusion: Rated }) =>
    plan.checks.length === 1 ? conclusion.checks.find(({ name }) => name === plan.checks[0]!.name)?.bound : undefined;

export const successOf = (plan: Pick<Plan, "attacks">, { successRate, bound }: Rate): string =>
    `${successRate} succeeded${isAttack(plan) ? " after the grace period" : ""}${inBrackets(bound)}`;

/** Such as `93.3% (95% confidence: at least 80.4%)`. */
export const rateOf = ({ successRate, bound }: Rate): string => `${successRate}${inBrackets(bound)}`;

const inBrackets = (bound: Bound | undefined) => (bound ? ` (${describeShown(bound)})` : "");

/** Such as `1.4 s after the attack was proven`, or `never`. */
export function sinceAttack(milliseconds: number | null, underAttack = true): string {
    if (milliseconds === null) return "never";
    return `${describeMilliseconds(milliseconds)} after the ${underAttack ? "attack was proven" : "checks began"}`;
}

/** Such as `1.4 s after the attack was undone`. */
export function sinceUndone({ recoveredAfterMs }: { recoveredAfterMs: number }, underAttack = true): string {
    return `${describeMilliseconds(recoveredAfterMs)} after the ${underAttack ? "attack" : "run"} was undone`;
}
