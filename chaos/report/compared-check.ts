/** What the answers of a check show of its limits relative to before the attack, and why they leave one open. */
import type { Aborted } from "../kinds/checks/abort";
import type { Answer } from "../kinds/checks/answer";
import { describeLimit, outcomesOf } from "../kinds/checks/change-limits";
import type { PlannedCheck } from "../kinds/checks/observe";
import { withoutPeriod } from "../cluster/problem";
import { longestBaselineMs } from "../definition/change-mistakes";
import {
    asIfSeen,
    type Change,
    type ChangeLimit,
    changeOf,
    isSeen,
    isTooCoarse,
    type Outcome,
    timesToDecide,
} from "../values/compared";
import { describeMilliseconds, durationWithin, formatDuration, times } from "../values/duration";
import { reason as reasonOf, type Reason } from "../values/reasons";
import type { Measured } from "./measured";

/** What the answers of a check are compared with. Times are milliseconds. */
export interface Comparing {
    /** Since when the attack is proven; without one, when the run began. */
    attackedAt: number;
    graceMs: number;
    /** Set if the abort rule of a check has ended the window. */
    aborted?: Aborted;
    /** Its answers before the attack. Absent if the check is not compared with them. */
    before?: readonly Outcome[];
    /** How long a baseline of the run may be. @default that of a run with only this check */
    longestBaselineMs?: number;
}

/** A limit, and what the answers before and under attack show of it. */
export interface Compared {
    limit: ChangeLimit;
    before: readonly Outcome[];
    during: readonly Outcome[];
    change: Change;
}

export function compare(
    { limits = [] }: PlannedCheck,
    answers: readonly Answer[],
    { attackedAt, graceMs, before }: Comparing,
): Compared[] {
    if (before === undefined) return [];
    const during = outcomesOf(answers.filter(({ at }) => at >= attackedAt + graceMs));
    return limits.map((limit) => ({ limit, before, during, change: changeOf(before, during, limit) }));
}

/** Whether it is open if a limit holds only because some answers say nothing, or not how fast the application was. */
export function whyNotSeen(
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
export function whyUndecided(
    { limits, intervalMs }: PlannedCheck,
    compared: readonly Compared[],
    { aborted, longestBaselineMs: mostBaselineMs = longestBaselineMs([{ intervalMs }]) }: Comparing,
): string | undefined {
    if (limits === undefined) return undefined;
    if (aborted !== undefined) return "the window ended early";
    const open = compared.find(({ change }) => change.isWithin === undefined);
    if (open === undefined) return compared.length > 0 ? undefined : "its answers before the attack are not known";
    const { limit, before, during, change } = open;
    if (isTooCoarse(limit, change))
        return (
            `with latencies in whole milliseconds, ${describeMilliseconds(change.before)} cannot be limited by a ` +
            `factor of ${describeLimit(limit)}: limit it by a time, such as +20ms`
        );
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
