/**
 * A series is one experiment, run several times. The name of each of its runs has two hashes: of the settings, and of
 * the series. By these, a series is found among the journals. A third part says whether results decide when it ends.
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
    /** Whether it ends as soon as its results show something. */
    isWatched: boolean;
}

export const newSeriesId = (): string => randomBytes(4).toString("hex");

export const nameOfRun = ({ settings, id, isWatched }: SeriesName): string =>
    `${new Date().toISOString()}-${settings}-${id}${isWatched ? "-until" : ""}`;

/** The series that a run belongs to, by its name. Undefined if it belongs to none. */
export function seriesOf({ journal, run = "" }: ReportedRun): SeriesName | undefined {
    const name = journal?.plan.run ?? run;
    const [, settings, id, until] = /-([0-9a-f]{8})-([0-9a-f]{8})(-until)?$/.exec(name) ?? [];
    return settings === undefined || id === undefined ? undefined : { settings, id, isWatched: until !== undefined };
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

/** What a number of decided runs shows: less, if it was decided by their results, as in a watched series. */
export const intervalFor = (runs: readonly ReportedRun[]): ((passed: number, decided: number) => Interval) =>
    runs.some((run) => seriesOf(run)?.isWatched) ? watchedInterval : interval;

/** A line for the newest series of each experiment, such as `orders-survive: 8 of 10 PASSED, …`. */
export function seriesLines(runs: readonly ReportedRun[]): string[] {
    const newest = new Map(seriesIn(runs).map((series) => [series[0]!.experiment, series]));
    return [...newest].map(([experiment, ofOne]) => `${experiment}: ${describeSeries(ofOne, intervalFor(ofOne))}`);
}
