import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Journal, keptJournals, lastJournalOf, reportsFolder, writeJournal } from "../journal";
import type { Plan } from "../plan";
import { indexPage, runPage } from "./page";
import { timelineSvg } from "./timeline";

/** Keeps what a run saw: its journal and beside it the picture, the page, and the list of all runs. */
export function keepReport(journal: Journal): void {
    writeJournal(journal);
    const beside = (extension: string) => journal.conclusion.journal.replace(/json$/, extension);
    writeFileSync(beside("svg"), timelineSvg(journal));
    writeFileSync(beside("html"), runPage(journal));
    writeFileSync(join(reportsFolder, "index.html"), indexPage(keptJournals()));
}

/** Adds to the report of a plan's last run how the shop recovered, where that run left a report that does not say so yet. */
export function addRecovery(plan: Plan, recovery: NonNullable<Journal["recovery"]>): void {
    const journal = lastJournalOf(plan);
    if (journal && !journal.recovery) keepReport({ ...journal, recovery });
}
