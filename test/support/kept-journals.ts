import { findRuns } from "../../chaos/report/journal-files";
import type { Journal } from "../../chaos/report/journal-schema";

/** The journals in a folder, newest first. */
export const keptJournals = (folder: string): Journal[] =>
    findRuns([folder])
        .runs.flatMap(({ journal }) => journal ?? [])
        .reverse();
