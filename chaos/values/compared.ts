/**
 * What answers from before an attack and under it show of a change: of a quantile of the latencies, or of the success
 * rate.
 *
 * Of each sample there is a lower and an upper bound of the level √95%, so both hold with 95% if the samples are
 * independent: the change is at least from the upper bound before to the lower one under attack, and at most from the
 * lower one before to the upper one under attack. For a quantile the bounds are two of the latencies, chosen by rank
 * (W. R. Thompson, "On confidence ranges for the median", Annals of Mathematical Statistics 7, 1936, 122-128): they
 * assume nothing about the distribution. For a rate they are those of `bound.ts`.
 *
 * Both assume independent answers, but slow or bad ones come in bursts. So a sample counts as the smaller number of
 * answers that would spread as its ten blocks do (E. L. Korn and B. I. Graubard, "Confidence intervals for proportions
 * with small expected number of positive counts estimated from survey data", Survey Methodology 24, 1998, 193-201).
 * It does so only if the sample has any: one without a bad answer counts in full. So bursts are seen if they are short
 * against a tenth of the window, and at least ten of them come in it. Of fewer, a limit may hold too often. Without
 * counting fewer, 28 of 62 runs without an attack on a busy machine showed a change; see docs/measurements.md.
 */
import { answersFor, leastAbove, lowerBound, probabilityOfAtLeast, upperBound, usualLevel } from "./bound";
import type { Share } from "./share";

/** The latency of a good answer in milliseconds, or what there was in its place. */
export type Outcome = number | Late | "bad" | "unseen";

/** A good answer whose latency has some of this machine's own delay: from none of `stalledMs` to all of it. */
export interface Late {
    latencyMs: number;
    stalledMs: number;
}

/** The least and the greatest latency that an answer may have had. */
function rangeOf(outcome: Outcome): [least: number, most: number] {
    if (outcome === "unseen") return [0, Infinity];
    if (outcome === "bad") return [Infinity, Infinity];
    if (typeof outcome === "number") return [outcome, outcome];
    return [Math.max(0, outcome.latencyMs - outcome.stalledMs), outcome.latencyMs];
}

export const quantiles = { p50: 0.5, p95: 0.95, p99: 0.99 } as const satisfies Record<string, Share>;
export type Quantile = keyof typeof quantiles;

/** How much may change from before an attack to under it. */
export type ChangeLimit =
    | { of: Quantile; atMostTimes: number }
    | { of: Quantile; atMostMoreMs: number }
    | { of: "successRate"; atMostLess: Share };

/** A value of a sample, such as a latency in milliseconds, with its bounds. */
interface Estimate {
    value: number;
    least: number;
    most: number;
    /** As how many independent answers the sample counts. */
    independent: number;
    /** The same for its lower bound: fewer, if what is tied with a quantile came in bursts. */
    fewest: number;
}

/** A change as its limit has it: a factor, milliseconds more, or a share less. */
export interface Change {
    before: number;
    during: number;
    by: number;
    /** With 95% confidence each. */
    atLeast: number;
    atMost: number;
    /** As how many independent answers the two samples count. */
    independent: { before: number; during: number };
    /** Whether the limit holds. Undefined if the bounds leave both possible. */
    isWithin?: boolean;
}

/** The level of each of four bounds. */
const side: Share = Math.sqrt(usualLevel);
/** Latencies are whole milliseconds. */
const roundingMs = 0.5;

export function changeOf(before: readonly Outcome[], during: readonly Outcome[], limit: ChangeLimit): Change {
    return changeAt(before, during, limit, 1);
}

/** @param times as if there had been so many times as many answers of this kind, before and under attack */
function changeAt(before: readonly Outcome[], during: readonly Outcome[], limit: ChangeLimit, times: number): Change {
    const [b, d] = [before, during].map((outcomes) => estimate(outcomes, limit, times)) as [Estimate, Estimate];
    const independent = { before: b.fewest, during: d.fewest };
    const change = { before: b.value, during: d.value, independent };
    if ("atMostLess" in limit) {
        const [atLeast, atMost] = [b.least - d.most, b.most - d.least];
        return decided({ ...change, by: b.value - d.value, atLeast, atMost }, limit.atMostLess);
    }
    if ("atMostMoreMs" in limit) {
        const [atLeast, atMost] = [known(d.least - b.most, -Infinity), known(d.most - b.least, Infinity)];
        return decided({ ...change, by: known(d.value - b.value, 0), atLeast, atMost }, limit.atMostMoreMs);
    }
    const [atLeast, atMost] = [known(d.least / b.most, 0), known(d.most / b.least, Infinity)];
    const by = known(d.value / Math.max(b.value, roundingMs), 1);
    return decided({ ...change, by, atLeast, atMost }, limit.atMostTimes);
}

const known = (number: number, otherwise: number) => (Number.isNaN(number) ? otherwise : number);

function decided(change: Change, limit: number): Change {
    if (change.atMost <= limit) return { ...change, isWithin: true };
    return change.atLeast > limit ? { ...change, isWithin: false } : change;
}

const estimate = (outcomes: readonly Outcome[], { of }: ChangeLimit, times: number) =>
    of === "successRate" ? rateOf(outcomes, times) : quantileOf(outcomes, quantiles[of], times);

/**
 * A quantile of the latencies. A bad answer counts as slower than all good ones: the caller got none. An unseen one
 * may have been anything, and a late one may have been faster.
 */
function quantileOf(outcomes: readonly Outcome[], share: Share, times: number): Estimate {
    const { length } = outcomes;
    const ends = [0, 1].map((end) => {
        const latencies = outcomes.map((outcome) => rangeOf(outcome)[end]!);
        const seen = latencies.filter((_, index) => outcomes[index] !== "unseen").sort((a, b) => a - b);
        const value = seen[Math.ceil(share * seen.length) - 1] ?? Infinity;
        const independent = independentOf(slowOnes(latencies, value, share));
        const tied = independentOf(latencies.map((one) => one >= value));
        return { sorted: latencies.sort((a, b) => a - b), value, independent, tied };
    });
    const [least, most] = ends as [(typeof ends)[0], (typeof ends)[0]];
    const independent = Math.min(least.independent, most.independent);
    const fewest = Math.min(independent, least.tied, most.tied);
    const [number, fewer] = [independent, fewest].map((one) => Math.max(1, Math.floor(one * times))) as [
        number,
        number,
    ];
    // That the answer of this rank is beyond a value takes as large a share of all as of the fewer ones.
    const rank = ranksOf(fewer, share).lower;
    const lower = rank < 1 ? 0 : Math.floor(((rank - 1) * length) / fewer) + 1;
    const upper = Math.ceil((ranksOf(number, share).upper * length) / number);
    return {
        value: most.value,
        least: Math.max(0, (least.sorted[lower - 1] ?? 0) - roundingMs),
        most: (most.sorted[upper - 1] ?? Infinity) + roundingMs,
        independent,
        fewest,
    };
}

/**
 * Which latencies are beyond a quantile. Many may have its value, since latencies are whole milliseconds: they count as
 * beyond it if that marks nearer to the right share of all. Otherwise it would mark nearly all of a fast application's,
 * and bursts of slow ones would not show. They do, too, if the slow ones are all alike and the slowest, unless they are
 * more than three in four.
 */
function slowOnes(latencies: readonly number[], value: number, share: Share): boolean[] {
    const [above, from] = [latencies.map((one) => one > value), latencies.map((one) => one >= value)];
    const excess = (marks: boolean[]) => Math.abs(marks.filter(Boolean).length / marks.length - (1 - share));
    if (!above.includes(true) && 4 * from.filter(Boolean).length <= 3 * from.length) return from;
    return excess(above) < excess(from) ? above : from;
}

/** The ranks, from 1, between which a quantile lies: 0 and one more than there are if none is on that side. */
function ranksOf(number: number, share: Share): { lower: number; upper: number } {
    const ofAtLeast = (rank: number) => (rank > number ? 0 : probabilityOfAtLeast(rank, number, share));
    return {
        lower: leastAbove(0, (rank) => ofAtLeast(rank) < side) - 1,
        upper: leastAbove(0, (rank) => ofAtLeast(rank) <= 1 - side),
    };
}

function rateOf(outcomes: readonly Outcome[], times: number): Estimate {
    const count = (what: Outcome) => outcomes.filter((outcome) => outcome === what).length;
    const [all, bad, unseen] = [outcomes.length, count("bad"), count("unseen")];
    const independent = independentOf(outcomes.map((outcome) => outcome === "bad"));
    const number = Math.max(1, Math.floor(independent * times));
    const goodOf = (worse: number, round: (number: number) => number) => number - round((worse * number) / all);
    return {
        value: all === unseen ? 0 : 1 - bad / (all - unseen),
        least: lowerBound(goodOf(bad + unseen, Math.ceil), number, side),
        most: upperBound(goodOf(bad, Math.floor), number, side),
        independent,
        fewest: independent,
    };
}

const blocks = 10;
/**
 * The spread of ten blocks is an estimate, too: the square of Student's quantile of 9 degrees over the normal one, both
 * at 97.5%, which is next to `side`. Another level or number of blocks needs others.
 */
const uncertainty = (2.262 / 1.96) ** 2;

/**
 * As how many independent answers a sample counts, by how unevenly what is marked lies in its blocks: the variance of
 * the blocks' numbers is compared with that of a binomial distribution.
 *
 * @param marks in the order of asking
 */
function independentOf(marks: readonly boolean[]): number {
    const all = marks.length;
    const marked = marks.filter(Boolean).length;
    const share = marked / all;
    if (all < 2 * blocks || marked === 0 || marked === all) return all;
    const numbers = Array.from({ length: blocks }, () => ({ marked: 0, all: 0 }));
    for (const [index, isMarked] of marks.entries()) {
        const block = numbers[Math.floor((index * blocks) / all)]!;
        block.all++;
        if (isMarked) block.marked++;
    }
    const spread = numbers.reduce(
        (sum, block) => sum + (block.marked - block.all * share) ** 2 / (block.all * share * (1 - share)),
        0,
    );
    return all / Math.max(1, (uncertainty * spread) / (blocks - 1));
}

/** No window has more answers that are worth asking for. */
const maxAnswers = 100_000;

/**
 * With how many times as many answers a change would be decided, if these lie as those that there were: by chance, they
 * may not. Undefined if no number is enough.
 */
export function timesToDecide(
    before: readonly Outcome[],
    during: readonly Outcome[],
    limit: ChangeLimit,
): number | undefined {
    for (let times = 1.1; times * during.length <= maxAnswers; times *= 1.1)
        if (changeAt(before, during, limit, times).isWithin !== undefined) return times;
    return undefined;
}

/** From so many milliseconds on, rounding is at most 5% of a latency: then not it, but the change is near the limit. */
const coarseMs = 10;

/** Whether rounding alone leaves a factor open, however many answers there are: a millisecond may be a half of one. */
export const isTooCoarse = (limit: ChangeLimit, { before, during, by }: Change): boolean =>
    "atMostTimes" in limit &&
    before < coarseMs &&
    by !== limit.atMostTimes &&
    during + roundingMs > limit.atMostTimes * (before - roundingMs) &&
    during - roundingMs <= limit.atMostTimes * (before + roundingMs);

export const isSeen = (outcome: Outcome): boolean => outcome !== "unseen";

/**
 * As if this machine had not been late, and each unseen answer had been as the one before it that was seen. Empty if
 * none was.
 */
export function asIfSeen(outcomes: readonly Outcome[]): Outcome[] {
    let last = outcomes.find(isSeen);
    if (last === undefined) return [];
    return outcomes.map((outcome) => {
        if (isSeen(outcome)) last = outcome;
        return typeof last === "object" ? rangeOf(last)[0] : last!;
    });
}

/** Fewer answers show nothing of a limit, however good they are. */
const leastPossible = (limit: ChangeLimit): number =>
    "atMostLess" in limit
        ? answersFor({ atLeast: 1 - limit.atMostLess, level: side })
        : leastAbove(1, (number) => {
              const { lower, upper } = ranksOf(number, quantiles[limit.of]);
              return lower >= 1 && upper <= number;
          });

/**
 * The least number of answers, before and under attack, that a limit may be compared with. Of a latency's, twice the
 * least possible: with less, most samples without a change are undecided or unsteady, because answers count as fewer
 * independent ones. If latencies have a long tail, most are undecided with twice as many, too. Of a drop's, the least
 * possible: after a baseline without a bad answer, it holds with that many only if none is bad under attack either.
 */
export const answersNeeded = (limit: ChangeLimit): number =>
    "atMostLess" in limit ? leastPossible(limit) : Math.max(30, 2 * leastPossible(limit));

/** Why answers from before an attack are nothing to compare with, as numbers. */
export interface BaselineFault {
    independent: number;
    /** Fewer independent ones are too few. */
    needed: number;
    bad: number;
    unseen: number;
    /** A factor cannot be limited: too many may have taken 0 ms, of which nothing is a multiple. */
    isTooFast: boolean;
}

/** @returns undefined if answers under attack could show that the limit is exceeded, and that it holds */
export function baselineFault(before: readonly Outcome[], limit: ChangeLimit): BaselineFault | undefined {
    const { least, most, independent } = estimate(before, limit, 1);
    const needed = leastPossible(limit);
    // A success rate below what may be lost cannot fall by more than that.
    const isEnough =
        "atMostLess" in limit
            ? least > limit.atMostLess
            : most < Infinity && ("atMostTimes" in limit ? least > 0 : independent >= needed);
    if (isEnough) return undefined;
    const count = (what: Outcome) => before.filter((outcome) => outcome === what).length;
    const isTooFast = "atMostTimes" in limit && least <= 0 && most < Infinity && independent >= needed;
    return { independent: Math.floor(independent), needed, bad: count("bad"), unseen: count("unseen"), isTooFast };
}
