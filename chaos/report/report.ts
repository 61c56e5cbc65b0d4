import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Plan } from "../definition/plan";
import { keptJournals, lastJournalOf, writeJournal } from "./journal-files";
import type { Journal } from "./journal-schema";
import { indexPage, runPage } from "./page";
import { timelineSvg } from "./timeline";

/**
 * Keeps what a run saw: its journal, beside it the picture and the page, and the list of all runs.
 *
 * @param options as of `writeJournal`
 */
export function keepReport(journal: Journal, options?: { again: boolean }): void {
    writeJournal(journal, options);
    const beside = (extension: string) => journal.conclusion.journal.replace(/json$/, extension);
    writeFileSync(beside("svg"), timelineSvg(journal));
    writeFileSync(beside("html"), runPage(journal));
    const { reports } = journal.plan;
    writeFileSync(join(reports, "index.html"), indexPage(keptJournals(reports)));
}

/** Adds the recovery to the report of a plan's last run by a stack, unless it is there already. */
export function addRecovery(plan: Plan, stack: string, recovery: NonNullable<Journal["recovery"]>): void {
    const journal = lastJournalOf(plan, stack);
    if (journal && !journal.recovery) keepReport({ ...journal, recovery }, { again: true });
}
