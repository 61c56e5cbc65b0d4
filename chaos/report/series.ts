/**
 * A series is one experiment, run several times. The name of each of its runs has two hashes: of the settings, and of
 * the series. By these, a series is found among the journals. Other parts say how many runs it was to have, and whether
 * results decide when it ends.
 */
import { randomBytes } from "node:crypto";
import { interval, type Interval } from "../values/bound";
import { groupedBy } from "../values/grouped";
import { watchedInterval } from "../values/watched";
import { describeSeries } from "./pass-rate";
import type { ReportedRun } from "./reported-run";

export interface SeriesName {
    /** What distinguishes stack, cluster and settings: 8 hexadecimal digits. */
    settings: string;
    /** 8 hexadecimal digits. */
    id: string;
    /** Runs of the whole series. */
    times: number;
    /** Whether it ends as soon as its results show something. */
    isWatched: boolean;
}

export const newSeriesId = (): string => randomBytes(4).toString("hex");

export const nameOfRun = ({ settings, id, times, isWatched }: SeriesName): string =>
    `${new Date().toISOString()}-${settings}-${id}-${times}${isWatched ? "-until" : ""}`;

/** The series that a run belongs to, by its name. Undefined if it belongs to none. */
export function seriesOf({ journal, run = "" }: ReportedRun): SeriesName | undefined {
    const name = journal?.plan.run ?? run;
    const [, settings, id, times, until] = /-([0-9a-f]{8})-([0-9a-f]{8})-(\d{1,4})(-until)?$/.exec(name) ?? [];
    if (settings === undefined || id === undefined) return undefined;
    return { settings, id, times: Number(times), isWatched: until !== undefined };
}

/**
 * The series among some runs, in the order of their newest runs.
 *
 * @param runs the oldest first
 * @returns the runs of each, the oldest first
 */
export function seriesIn<Run extends ReportedRun>(runs: readonly Run[]): Run[][] {
    const inSeries = runs.filter((run) => seriesOf(run) !== undefined);
    const keyOf = (run: Run) => `${run.experiment} ${seriesOf(run)!.settings} ${seriesOf(run)!.id}`;
    const place = (series: readonly Run[]) => inSeries.indexOf(series.at(-1)!);
    return [...groupedBy(inSeries, keyOf).values()].sort((a, b) => place(a) - place(b));
}

/**
 * What a number of decided runs shows: less, if their number was not fixed before the first of them. So it is in a
 * watched series, in one that is not complete, and in one that was continued to another number of runs.
 */
export function intervalFor(runs: readonly ReportedRun[]): (passed: number, decided: number) => Interval {
    const isFixed = runs.every((run) => {
        const { isWatched = false, times = runs.length } = seriesOf(run) ?? {};
        return !isWatched && times === runs.length;
    });
    return isFixed ? interval : watchedInterval;
}

/** A line for the newest series of each experiment, such as `orders-survive: 8 of 10 PASSED, …`. */
export function seriesLines(runs: readonly ReportedRun[]): string[] {
    const newest = new Map(seriesIn(runs).map((series) => [series[0]!.experiment, series]));
    return [...newest].map(([experiment, ofOne]) => `${experiment}: ${describeSeries(ofOne, intervalFor(ofOne))}`);
}
