import type { ExperimentRuns, Outcome } from "./experiment-runs";

/** The name of an experiment that is not known yet. */
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
            const mistakes = runs.tellMistakes(changes);
            outcomes.push(mistakes === undefined ? await runs.whole(changes) : notRun(experiment, mistakes));
        }
    }
}

/** Of an experiment that was not begun. @param error why not */
export function notRun(experiment = standIn, error: string): Outcome {
    return { experiment, error, begunAt: Date.now(), endedAt: Date.now() };
}
