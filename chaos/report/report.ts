import { accessSync, constants, mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Plan } from "../definition/plan";
import { findRuns, lastJournalOf, writeJournal } from "./journal-files";
import type { Journal } from "./journal-schema";
import { runPage } from "./run-page";
import { indexPage } from "./runs-page";
import { timelineSvg } from "./timeline";

/** Writes what a run saw: its journal, beside it the picture and the page, and the page of all runs. */
export function keepReport(journal: Journal, options?: { again: boolean }): void {
    writeJournal(journal, options);
    const beside = (extension: string) => journal.conclusion.journal.replace(/json$/, extension);
    writeFileSync(beside("svg"), timelineSvg(journal));
    writeFileSync(beside("html"), runPage(journal));
    const { reports } = journal.plan;
    const { runs, others } = findRuns([reports]);
    writeFileSync(join(reports, "index.html"), indexPage([...runs, ...others], reports));
}

/**
 * Makes the folder of the reports. @throws Error if nothing can be written there: a verdict would be lost after the
 * attack
 */
export function requireReportsFolder(folder: string): void {
    try {
        mkdirSync(folder, { recursive: true });
        accessSync(folder, constants.W_OK);
    } catch (error) {
        throw new Error(
            `the reports cannot be written to the folder ${resolve(folder)}: ${(error as Error).message}. Nothing ` +
                "was attacked. Make that a folder that you may write to, or name another one",
        );
    }
}

/** Adds the recovery to the report of a plan's last run by a stack, unless it is there already. */
export function addRecovery(plan: Plan, stack: string, recovery: NonNullable<Journal["recovery"]>): void {
    const journal = lastJournalOf(plan, stack);
    if (journal && !journal.recovery) keepReport({ ...journal, recovery }, { again: true });
}
