import { stripVTControlCharacters } from "node:util";
import { type CiFiles, writeCiFiles } from "../chaos/report/ci-files";
import { type ReportedRun, runOfJournal } from "../chaos/report/reported-run";
import type { Outcome } from "./experiment-runs";
import { plainError } from "./print";

/**
 * Writes the reports for continuous integration, if any are wanted, and prints their names.
 *
 * @returns false if one could not be written, which is printed: the verdicts must still be told
 */
export function writeReports(files: CiFiles, outcomes: readonly Outcome[], print: (line: string) => void): boolean {
    try {
        for (const path of writeCiFiles(files, outcomes.map(reportedRun))) print(`  Wrote          ${path}`);
        return true;
    } catch (error) {
        print(`A report could not be written: ${plainError(error)}`);
        return false;
    }
}

/** An outcome for the reports. Errors of the engine may have terminal colors. */
export function reportedRun({ experiment, journal, error = "", notUndone, begunAt, endedAt }: Outcome): ReportedRun {
    return {
        ...(journal
            ? runOfJournal(journal)
            : {
                  experiment,
                  error: stripVTControlCharacters(error),
                  startedAt: begunAt,
                  durationMs: endedAt - begunAt,
              }),
        ...(notUndone && { notUndone: stripVTControlCharacters(plainError(notUndone)) }),
    };
}
