import type { Verdict } from "../chaos/report/verdict";
import { differenceFrom } from "../experiments/story";
import type { Outcome } from "./experiment-runs";
import { alignedRows } from "./print";

const exitCodes: Record<Verdict, number> = { PASSED: 0, FAILED: 2, INCONCLUSIVE: 3, ABORTED: 4 };
/** Of a run without a verdict. */
export const failed = 1;

/** A line for each run: verdict, success rate, experiment, whether that was expected, and the reason. */
export function verdictTable(outcomes: readonly Outcome[]): string {
    const rows = outcomes.map(({ experiment, journal, error = "", expected }) => {
        if (journal === undefined) return ["not run", "", experiment, "", error.replaceAll("\n", " ")];
        const { verdict, successRate, reason } = journal.conclusion;
        const compared = expected && (differenceFrom(expected, journal.conclusion) ?? "as expected");
        return [verdict, successRate.padStart(6), experiment, compared ?? "", reason];
    });
    return `\nVerdicts\n${alignedRows(rows)
        .map((row) => `  ${row}`)
        .join("\n")}`;
}

/** The exit code of one run. */
export function exitCodeOf({ journal }: Pick<Outcome, "journal">): number {
    return journal === undefined ? failed : exitCodes[journal.conclusion.verdict];
}

/** The exit code of several runs: the highest of those that did not end as expected. */
export function exitCodeOfAll(outcomes: readonly Pick<Outcome, "journal" | "expected">[]): number {
    const codes = outcomes.map(({ journal, expected }) => {
        if (journal === undefined || expected === undefined) return exitCodeOf({ journal });
        if (differenceFrom(expected, journal.conclusion) === undefined) return 0;
        return exitCodeOf({ journal }) || exitCodes.FAILED;
    });
    return Math.max(0, ...codes);
}
