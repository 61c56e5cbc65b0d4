/**
 * What runs show of the chance that a run passes, if their results decide how many runs there are. The interval of a
 * fixed number of runs is wrong then: somebody who looks at it after every run, and stops once it says something, errs
 * far more often than its level allows, at 100 runs up to four times as often.
 *
 * This interval allows it (H. Robbins, "Statistical methods related to the law of the iterated logarithm", Annals of
 * Mathematical Statistics 41, 1970, 1397-1409). It has the chances with which exactly so many of so many runs pass with
 * a probability of more than (1 - level) / (runs + 1). Series of runs in which it ever leaves out the true chance, at
 * whatever run, are rarer than the level allows. For that it is wider.
 */
import { type Interval, leastChance, logOfChoices, usualLevel } from "./bound";
import type { Share } from "./share";

/** @param passed of all */
export function watchedInterval(passed: number, all: number, level: Share = usualLevel): Interval {
    const logOfWays = logOfChoices(passed, all);
    const logOfAllowed = Math.log((1 - level) / (all + 1)) - logOfWays;
    const least = (some: number) =>
        leastChance(
            some,
            all,
            (chance) => some * Math.log(chance) + (all - some) * Math.log1p(-chance) <= logOfAllowed,
        );
    return { atLeast: least(passed), atMost: 1 - least(all - passed) };
}

/** Whether the chance is at least a share, or less. Undefined if the interval leaves both possible. */
export function decide(share: Share, { atLeast, atMost }: Interval): "reached" | "missed" | undefined {
    if (atLeast >= share) return "reached";
    return atMost < share ? "missed" : undefined;
}
