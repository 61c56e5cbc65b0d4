import { decidedOf, describeSeries } from "../report/pass-rate";
import type { ReportedRun } from "../report/reported-run";
import { intervalFor, nameOfRun, newSeriesId, seriesIn, seriesOf } from "../report/series";
import { usualLevelText } from "../values/bound";
import { describeShare, parsePercentage, readsAsAllOrNone, type Share } from "../values/share";
import { decide, runsFor, watchedInterval } from "../values/watched";
import { exitCodes } from "./outcomes";

export interface Repeat {
    /** Runs of the whole series. */
    times: number;
    /** It ends once it is decided whether at least this share of decided runs passes. @default after `times` runs */
    until?: Share;
    /** Whether the last series with these settings goes on. @default a new one begins */
    isContinued: boolean;
}

/** One experiment with the same settings, in the same cluster. */
export interface Repeatable<Run extends ReportedRun> {
    /** Distinguishes stacks, clusters and settings, without those that change between runs: 8 hexadecimal digits. */
    settings: string;
    /** Earlier runs of the experiment that have journals, the oldest first. */
    earlier(): Run[];
    readonly interrupted: boolean;
    /** Makes a run, with targets chosen again at random, and undoes it. @param name the run's */
    run(name: string): Promise<Run>;
    /** @returns why it failed */
    undo(): Promise<string | undefined>;
}

/**
 * Runs an experiment until its series is complete or decided. It ends early after an interruption, and after a run that
 * could not be undone.
 *
 * @param outcomes gets an outcome for each run of the series, as soon as there is one
 */
export async function runSeries<Run extends ReportedRun>(
    runs: Repeatable<Run>,
    { times, until, isContinued }: Repeat,
    outcomes: Run[],
    print: (line: string) => void,
): Promise<void> {
    const isOfSettings = ([first]: Run[]) => seriesOf(first!)!.settings === runs.settings;
    const earlier = (isContinued && seriesIn(runs.earlier()).findLast(isOfSettings)) || [];
    if (isContinued)
        print(earlier.length === 0 ? "No series with these settings: beginning one" : "Continuing a series");
    const id = earlier[0] ? seriesOf(earlier[0])!.id : newSeriesId();
    const series = { settings: runs.settings, id, times, isWatched: until !== undefined };
    outcomes.push(...earlier);
    while (outcomes.length < times && decisionOf(outcomes, until) === undefined) {
        if (outcomes.length > earlier.length && (runs.interrupted || outcomes.at(-1)!.notUndone)) return;
        const soFar = outcomes.length === 0 ? "" : `. So far ${describeEnd(outcomes, until)}`;
        print(`\nRun ${outcomes.length + 1} of ${times}${soFar}`);
        outcomes.push(await runs.run(nameOfRun(series)));
    }
    if (outcomes.length > earlier.length) return;
    // The last run of the series may have been killed before it was undone.
    const notUndone = await runs.undo();
    outcomes.push({ ...outcomes.pop()!, notUndone });
}

/** What a series has shown, in lines. */
export function seriesEnd(outcomes: readonly ReportedRun[], { until }: Pick<Repeat, "until">): string[] {
    const shown = describeEnd(outcomes, until);
    if (until === undefined) return [shown];
    const { passed, decided } = decidedOf(outcomes);
    const undecided = outcomes.length - decided;
    const others =
        undecided === 0
            ? ""
            : `; ${undecided} of ${outcomes.length} runs ${undecided === 1 ? "was" : "were"} undecided`;
    const share = `${describeShare(until)} of decided runs pass`;
    const decision = decisionOf(outcomes, until);
    if (decision !== undefined) {
        const side = decision === "reached" ? "at least" : "fewer than";
        return [shown, `Shown with ${usualLevelText} confidence: ${side} ${share}${others}`];
    }
    const failed = decided - passed;
    const among = failed === 0 ? "if all pass" : `if no more than ${failed} fail${failed === 1 ? "s" : ""}`;
    const enough = `${runsFor(until, failed)} decided runs would show it ${among}`;
    return [shown, `It is not decided whether at least ${share}: ${enough}${others}`];
}

/** The exit code of a series that ends by its results. */
export function exitCodeOfDecision(outcomes: readonly ReportedRun[], until: Share): number {
    const decision = decisionOf(outcomes, until);
    if (decision === undefined) return exitCodes.INCONCLUSIVE;
    return decision === "reached" ? exitCodes.PASSED : exitCodes.FAILED;
}

/** If results decide when a series ends, or have decided it before it was continued, its interval is wider. */
const describeEnd = (outcomes: readonly ReportedRun[], until: Share | undefined) =>
    describeSeries(outcomes, until === undefined ? intervalFor(outcomes) : watchedInterval);

function decisionOf(outcomes: readonly ReportedRun[], until: Share | undefined) {
    const { passed, decided } = decidedOf(outcomes);
    return until === undefined ? undefined : decide(until, watchedInterval(passed, decided));
}

/** The options of a command that repeats runs, as they are written. */
export interface WrittenRepeat {
    times?: string;
    until?: string;
    continue?: boolean;
}

/** @param mistakes gets what is wrong with the options. @returns undefined if no series is asked for */
export function repeatIn(written: WrittenRepeat, mistakes: string[]): Repeat | undefined {
    const { times, until } = written;
    if (times === undefined) {
        for (const option of ["until", "continue"] as const)
            if (written[option]) mistakes.push(`--${option} is for a series of runs: add --times`);
        return undefined;
    }
    const areTimes = /^[1-9]\d{0,3}$/.test(times) && times !== "1";
    if (!areTimes) mistakes.push(`--times ${times || '""'}: allowed: a whole number from 2 to 9999`);
    const share = until === undefined ? undefined : parsePercentage(until);
    // No number of runs shows that all pass.
    const isShare = share !== undefined && !readsAsAllOrNone(share);
    if (until !== undefined && !isShare)
        mistakes.push(`--until ${until || '""'}: allowed: a percentage above 0% and below 100%, such as 95%`);
    else if (areTimes && share !== undefined) mistakes.push(...tooFew(Number(times), share));
    return { times: Number(times), until: share, isContinued: written.continue ?? false };
}

/** A series that cannot show what is asked, even if all of its runs pass. */
function tooFew(times: number, until: Share): string[] {
    const needed = runsFor(until, 0);
    if (needed <= times) return [];
    const shown = Math.floor(watchedInterval(times, times).atLeast * 1_000) / 10;
    const longer = needed <= 9_999 ? [`--times of at least ${needed}`] : [];
    const less = shown > 0 ? [`--until of at most ${shown}%`] : [];
    return [
        `--times ${times} --until ${describeShare(until)}: ${times} runs cannot show it; it takes ${needed} that all ` +
            `pass; allowed: ${[...longer, ...less].join(", or ")}`,
    ];
}

/** The arguments of a command that goes on with the series. */
export const continuing = (args: readonly string[]): string[] =>
    args.includes("--continue") ? [...args] : [...args, "--continue"];
