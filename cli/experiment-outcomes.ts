import { exitCodeOf, exitCodes, verdictTable as tableOf } from "../chaos/cli/outcomes";
import { plainError } from "../chaos/cli/plain-error";
import { type CiFiles, writeCiFiles } from "../chaos/report/exports/ci-files";
import { differenceFrom } from "../experiments/story";
import type { ExperimentRuns, Outcome } from "./experiment-runs";

export const standIn = "the stack's experiment";

/**
 * Runs experiments one after the other. After an interruption, or a run that could not be undone, the rest is not
 * begun, which is an outcome, too. One whose settings are a mistake is not begun either, but the others are.
 *
 * @param experiments their names. Undefined for the one that the stack's file names
 * @param settings of each run
 * @param outcomes gets an outcome for each experiment, as soon as there is one
 */
export async function runInTurn(
    runs: Pick<ExperimentRuns, "interrupted" | "tellMistakes" | "whole">,
    experiments: readonly (string | undefined)[],
    settings: Record<string, string>,
    outcomes: Outcome[],
): Promise<void> {
    for (const experiment of experiments) {
        const changes = { ...settings, ...(experiment && { "experiment.name": experiment }) };
        const notUndone = outcomes.find((outcome) => outcome.notUndone)?.experiment;
        if (runs.interrupted) outcomes.push(notRun(experiment, "interrupted before it began"));
        else if (notUndone) outcomes.push(notRun(experiment, `not begun, since ${notUndone} could not be undone`));
        else {
            const mistakes = await runs.tellMistakes(changes);
            outcomes.push(mistakes === undefined ? await runs.whole(changes) : notRun(experiment, mistakes));
        }
    }
}

/** Of an experiment that was not begun. @param error why not */
export function notRun(experiment = standIn, error: string): Outcome {
    return { experiment, error, startedAt: Date.now(), durationMs: 0 };
}

/**
 * Writes the reports for continuous integration, if any are wanted, and prints their names.
 *
 * @returns false if one could not be written, which is printed: the verdicts must still be printed
 */
export function writeReports(files: CiFiles, outcomes: readonly Outcome[], print: (line: string) => void): boolean {
    try {
        for (const path of writeCiFiles(files, outcomes)) print(`  Wrote          ${path}`);
        return true;
    } catch (error) {
        print(`A report could not be written: ${plainError(error)}`);
        return false;
    }
}

/** A line for each run, and whether its verdict was expected. */
export const verdictTable = (outcomes: readonly Outcome[]): string =>
    tableOf(
        outcomes,
        ({ journal, expected }) =>
            journal && expected && (differenceFrom(expected, journal.conclusion) ?? "as expected"),
    );

/** The exit code of several runs: the highest of those that did not end as expected. */
export function exitCodeOfAll(outcomes: readonly Pick<Outcome, "journal" | "expected">[]): number {
    const codes = outcomes.map(({ journal, expected }) => {
        if (journal === undefined || expected === undefined) return exitCodeOf({ journal });
        if (differenceFrom(expected, journal.conclusion) === undefined) return 0;
        return exitCodeOf({ journal }) || exitCodes.FAILED;
    });
    return Math.max(0, ...codes);
}
