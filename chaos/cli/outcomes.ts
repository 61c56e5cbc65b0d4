import { named, type ReportedRun } from "../report/reported-run";
import type { Verdict } from "../report/verdict";
import { alignedRows } from "../values/aligned";

export const exitCodes: Record<Verdict, number> = { PASSED: 0, FAILED: 2, INCONCLUSIVE: 3, ABORTED: 4 };
/** Of a run without a verdict. */
export const failed = 1;
export const interrupted = 130;

export const exitCodeOf = ({ journal }: Pick<ReportedRun, "journal">): number =>
    journal === undefined ? failed : exitCodes[journal.conclusion.verdict];

/**
 * A line for each run: verdict, success rate, experiment, and the reason.
 *
 * @param compared a column between the last two. @default it is empty
 */
export function verdictTable<Run extends ReportedRun>(
    outcomes: readonly Run[],
    compared: (run: Run) => string | undefined = () => undefined,
): string {
    const rows = named(outcomes).map((run) => {
        const { name, journal, error = "" } = run;
        if (journal === undefined) return ["not run", "", name, "", error.replaceAll("\n", " ")];
        const { verdict, code, reason } = journal.conclusion;
        const successRate = verdict === "ABORTED" ? "" : journal.conclusion.successRate;
        return [verdict, successRate.padStart(6), name, compared(run) ?? "", code ? `${code}: ${reason}` : reason];
    });
    return `\nVerdicts\n${alignedRows(rows)
        .map((row) => `  ${row}`)
        .join("\n")}`;
}
