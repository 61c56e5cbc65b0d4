/**
 * What runs show of the chance that a run passes, if the results decide how many runs there are. The interval of a
 * fixed number of runs is wrong then: of series of 100 runs, 23% leave out a true chance of 50% after some run,
 * and not 5%.
 *
 * This interval holds after every run, however the number is decided (H. Robbins, "Statistical methods related to the
 * law of the iterated logarithm", Annals of Mathematical Statistics 41, 1970, 1397-1409). It contains the chances with
 * which exactly so many runs pass with a probability above (1 - level) / (runs + 1). By Ville's inequality, it ever
 * leaves out the true chance in no more series than the level allows. For that, it is wider.
 */
import { type Interval, leastAbove, leastChance, logOfChoices, usualLevel } from "./bound";
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

/** The least number of runs that show a share if no more than `failed` of them fail. */
export const runsFor = (share: Share, failed: number): number =>
    leastAbove(failed, (all) => decide(share, watchedInterval(all - failed, all)) === "reached");
