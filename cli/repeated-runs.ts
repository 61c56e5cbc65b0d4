import { randomBytes } from "node:crypto";
import { decidedOf, describeSeries } from "../chaos/report/pass-rate";
import type { ReportedRun } from "../chaos/report/reported-run";
import { interval } from "../chaos/values/bound";
import { describeShare, type Share } from "../chaos/values/share";
import { decide, runsFor, watchedInterval } from "../chaos/values/watched";
import { notRun } from "./experiment-outcomes";
import type { ExperimentRuns, Outcome } from "./experiment-runs";

/**
 * A series is one experiment, run several times. Each run chooses its targets at random, as any run does. The names of
 * its runs end in two hashes: of the settings, and of the series. By these, an interrupted series is found again among
 * the journals, and only if the settings are the same.
 */
export interface Repeat {
    /** Runs of the whole series. */
    times: number;
    /** The series ends once it is decided whether at least this share of runs passes. @default after `times` runs */
    until?: Share;
    /** Whether the last series with these settings goes on. @default a new one begins */
    isContinued: boolean;
}

/**
 * Runs an experiment until its series is complete or decided. It ends early after an interruption, and after a run that
 * could not be undone. If the settings are a mistake, nothing is begun.
 *
 * @param changes settings of each run
 * @param outcomes gets an outcome for each run of the series, as soon as there is one
 */
export async function runRepeatedly(
    runs: Pick<ExperimentRuns, "earlier" | "interrupted" | "tellMistakes" | "tokenOf" | "undo" | "whole">,
    { times, until, isContinued }: Repeat,
    changes: Record<string, string>,
    outcomes: Outcome[],
    print: (line: string) => void,
): Promise<void> {
    const mistakes = await runs.tellMistakes(changes);
    if (mistakes !== undefined) return void outcomes.push(notRun(changes["experiment.name"], mistakes));
    const ofSettings = runs.tokenOf(changes);
    const last = isContinued ? lastSeries(runs.earlier(changes), ofSettings) : undefined;
    const { series, runs: earlier } = last ?? { series: randomBytes(4).toString("hex"), runs: [] };
    if (isContinued)
        print(earlier.length === 0 ? "No series with these settings: beginning one" : "Continuing a series");
    outcomes.push(...earlier);
    while (outcomes.length < times && decisionOf(outcomes, until) === undefined) {
        if (outcomes.length > earlier.length && (runs.interrupted || outcomes.at(-1)!.notUndone)) return;
        const soFar = outcomes.length === 0 ? "" : `. So far ${describeEnd(outcomes, until)}`;
        print(`\nRun ${outcomes.length + 1} of ${times}${soFar}`);
        const run = `${new Date().toISOString()}-${ofSettings}-${series}`;
        outcomes.push(await runs.whole({ ...changes, "experiment.run": run }));
    }
    if (outcomes.length > earlier.length) return;
    // The last run of the series may have been killed before it was undone.
    const notUndone = await runs.undo();
    outcomes.push({ ...outcomes.pop()!, notUndone });
}

/** What a series has shown, in lines. */
export function seriesLines(outcomes: readonly Outcome[], { until }: Pick<Repeat, "until">): string[] {
    const shown = describeEnd(outcomes, until);
    if (until === undefined) return [shown];
    const share = describeShare(until);
    const decision = decisionOf(outcomes, until);
    if (decision === undefined) {
        const { passed, decided } = decidedOf(outcomes);
        const failed = decided - passed;
        const among = failed === 0 ? "that all pass" : `of which ${failed} fail${failed === 1 ? "s" : ""}`;
        const enough = `${runsFor(until, failed)} decided runs ${among} would show it`;
        return [shown, `It is not decided whether at least ${share} of runs pass: ${enough}`];
    }
    return [
        shown,
        `Shown with 95% confidence: ${decision === "reached" ? "at least" : "fewer than"} ${share} of runs pass`,
    ];
}

/** With `until`, the number of runs depends on their results. */
const describeEnd = (outcomes: readonly Outcome[], until: Share | undefined) =>
    describeSeries(outcomes, until === undefined ? interval : watchedInterval);

function decisionOf(outcomes: readonly Outcome[], until: Share | undefined) {
    const { passed, decided } = decidedOf(outcomes);
    return until === undefined ? undefined : decide(until, watchedInterval(passed, decided));
}

/** @param runs the oldest first */
function lastSeries<Run extends ReportedRun>(runs: readonly Run[], ofSettings: string) {
    const seriesOf = ({ journal }: Run) => {
        const [, settings, series] = /-([0-9a-f]{8})-([0-9a-f]{8})$/.exec(journal?.plan.run ?? "") ?? [];
        return settings === ofSettings ? series : undefined;
    };
    const last = runs.findLast((run) => seriesOf(run) !== undefined);
    const series = last && seriesOf(last);
    return series === undefined ? undefined : { series, runs: runs.filter((run) => seriesOf(run) === series) };
}
