/**
 * What a number of good answers shows of the chance of a good answer: the exact one-sided bound of Clopper and Pearson
 * ("The use of confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26, 1934, 404-413).
 *
 * It holds if each answer has the same chance of being good, independently of the others: then a bound of the level 95%
 * is on the wrong side of that chance in at most 5% of such samples. The lower one is shown of a check that held, the
 * upper one of one that did not: so up to 10% of runs may show one that is on the wrong side.
 */
import { type Rounding, roundedUntil } from "./rounded";
import { describeShare, type Share } from "./share";

/** What a number of answers is required to show. */
export interface Confidence {
    /** Below 1: no number of answers shows that. */
    atLeast: Share;
    /** From 0.5 to below 1. */
    level: Share;
}

/** Of all bounds and intervals, unless a check sets another. `compared.ts` has a number that depends on it. */
export const usualLevel: Share = 0.95;
/** Such as `95%`. */
export const usualLevelText = describeShare(usualLevel);

/** The chance of a good answer below which at least `good` of `all` would be rarer than the level allows. */
export function lowerBound(good: number, all: number, level: Share): Share {
    const logOfWays = logOfChoices(good, all);
    // From a level of 50% on, the bound is not above the share that was seen.
    return leastChance(good, all, (chance) => probabilityOfAtLeast(good, all, chance, logOfWays) <= 1 - level);
}

/** The chance of a good answer above which at most `good` of `all` would be rarer than the level allows. */
export const upperBound = (good: number, all: number, level: Share): Share => 1 - lowerBound(all - good, all, level);

/** The chances of a good answer that a number of answers leaves possible, from the least to the greatest. */
export interface Interval {
    atLeast: Share;
    atMost: Share;
}

/** The two-sided interval: each of its ends is the bound with half of the error that the level allows. */
export function interval(good: number, all: number, level = usualLevel): Interval {
    const side = (1 + level) / 2;
    return { atLeast: lowerBound(good, all, side), atMost: upperBound(good, all, side) };
}

/** The least chance of a good answer with which so many of all are not too rare, up to the share that was seen. */
export function leastChance(good: number, all: number, isTooRare: (chance: number) => boolean): Share {
    let [low, high] = [0, good / all];
    for (let step = 0; step < 60 && good > 0; step++) {
        const chance = (low + high) / 2;
        if (isTooRare(chance)) low = chance;
        else high = chance;
    }
    // The last digits are not exact, and a bound of 50% must reach 50%.
    return Math.round(low * 1e14) / 1e14;
}

/** The least number of answers that show a share if no more than `bad` of them are bad. */
export const answersFor = ({ atLeast, level }: Confidence, bad = 0): number =>
    leastAbove(bad, (all) => lowerBound(all - bad, all, level) >= atLeast);

/** The least number above another one that is enough. All numbers above it are, too. */
export function leastAbove(number: number, areEnough: (number: number) => boolean): number {
    let [few, enough] = [number, number + 1];
    while (!areEnough(enough)) [few, enough] = [enough, 2 * enough];
    while (enough - few > 1) {
        const all = Math.floor((few + enough) / 2);
        if (areEnough(all)) enough = all;
        else few = all;
    }
    return enough;
}

/**
 * A share as a percentage with one decimal place. It has more if it would read as 0% or as 100% without being that,
 * differs from the share by more than 2% of it, or is not as it should be otherwise.
 *
 * @param rounding a bound of "at least" is rounded down, and one of "at most" up
 * @param isRight about the share that is shown, such as that it is on the same side of a limit
 */
export function describeBound(
    bound: Share,
    rounding: Rounding,
    isRight: (shown: Share) => boolean = () => true,
): string {
    const shown = roundedUntil(
        bound,
        3,
        rounding,
        (shown) =>
            (shown === 0) === (bound === 0) &&
            (shown === 1) === (bound === 1) &&
            Math.abs(shown - bound) <= bound / 50 &&
            isRight(shown),
    );
    return `${Number((shown * 100).toPrecision(15))}%`;
}

/**
 * Sums the binomial distribution from `good` on: each term is the one before it times a quotient. The first term would
 * be too small for a number before its factors are multiplied, so these are added as logarithms.
 */
export function probabilityOfAtLeast(
    good: number,
    all: number,
    chance: number,
    logOfWays = logOfChoices(good, all),
): number {
    const odds = chance / (1 - chance);
    let [sum, term] = [1, 1];
    for (let count = good; count < all && term > sum * Number.EPSILON; count++) {
        term *= ((all - count) / (count + 1)) * odds;
        sum += term;
    }
    return Math.exp(logOfWays + good * Math.log(chance) + (all - good) * Math.log1p(-chance) + Math.log(sum));
}

/** The logarithm of the number of ways to choose some of all. */
export function logOfChoices(some: number, all: number): number {
    let sum = 0;
    for (let index = 1; index <= Math.min(some, all - some); index++) sum += Math.log((all - index + 1) / index);
    return sum;
}
