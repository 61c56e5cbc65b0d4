import { describeBound, interval, type Interval, usualLevelText } from "../values/bound";
import { watchedInterval } from "../values/watched";
import { countResults, type ReportedRun, resultOf } from "./reported-run";

/** Runs that were decided: PASSED or FAILED. Others say nothing of the application. */
export interface Decided {
    passed: number;
    decided: number;
}

export function decidedOf(runs: readonly ReportedRun[]): Decided {
    const passed = runs.filter((run) => resultOf(run) === "PASSED").length;
    return { passed, decided: passed + runs.filter((run) => resultOf(run) === "FAILED").length };
}

/** Such as `51.7% to 99.8%`. */
const describeInterval = ({ atLeast, atMost }: Interval): string =>
    `${describeBound(atLeast, "down")} to ${describeBound(atMost, "up")}`;

/** What a number of decided runs shows. */
type IntervalOf = (passed: number, decided: number) => Interval;

/**
 * Of the runs over time, such as `3 of 3 decided passed (95%, if nothing was changed in between: 23.2% to 100%)`. The
 * interval is that of a watched series, because the page is read after every run.
 */
export function describeDecided({ passed, decided }: Decided): string {
    if (decided === 0) return "none decided";
    const shown = describeInterval(watchedInterval(passed, decided));
    return `${passed} of ${decided} decided passed (${usualLevelText}, if nothing was changed in between: ${shown})`;
}

/**
 * Of a series of runs, such as `8 of 10 PASSED, 1 FAILED, 1 INCONCLUSIVE; of decided runs 88.9% passed (95% confidence:
 * 51.7% to 99.8%)`.
 *
 * @param intervalOf what a number of decided runs shows. @default that of a fixed number of runs
 */
export function describeSeries(runs: readonly ReportedRun[], intervalOf: IntervalOf = interval): string {
    const { passed, decided } = decidedOf(runs);
    const others = runs.filter((run) => resultOf(run) !== "PASSED");
    const counts = [`${passed} of ${runs.length} PASSED`, ...(others.length === 0 ? [] : [countResults(others)])];
    const shows =
        decided === 0
            ? "no run was decided"
            : `of decided runs ${describeBound(passed / decided, "nearest")} passed ` +
              `(${usualLevelText} confidence: ${describeInterval(intervalOf(passed, decided))})`;
    return `${counts.join(", ")}; ${shows}`;
}
