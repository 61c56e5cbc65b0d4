import { readdirSync, realpathSync, statSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { readJournal } from "./journal-files";
import { type ReportedRun, runOfJournal } from "./reported-run";

export interface Wanted {
    /** Those that began at this time or later, in milliseconds since the epoch. */
    since?: number;
    /** Those of this name of a run, `experiment.run`. */
    run?: string;
}

/** The name of a journal: see `journalPath`. */
const journalName = /^(.+)-\d{8}T\d{9}Z-[0-9a-f]{8}\.json$/;

/**
 * The runs whose journals are in some files and folders, the oldest first. In a folder, only files with names of
 * journals count. If such a file holds no journal, since it was cut off, say, it is a run that ended without a verdict
 * when the file was written. Which name it had is unknown, so `run` does not leave it out.
 *
 * @returns also those whose journals are of other versions, and a sentence for each path that is not there, cannot be
 *   read or is no journal
 */
export function findRuns(
    paths: readonly string[],
    wanted: Wanted = {},
): { runs: ReportedRun[]; others: ReportedRun[]; mistakes: string[] } {
    const mistakes: string[] = [];
    const others = new Map<string, ReportedRun>();
    const found = new Map<string, ReportedRun>();
    for (const path of paths) {
        try {
            const isFolder = statSync(path).isDirectory();
            for (const file of isFolder ? filesIn(path) : [path]) {
                const { run, isOfAnotherVersion } = runIn(file);
                if (isOfAnotherVersion) others.set(realpathSync(file), run);
                else if (run.journal || isFolder) found.set(run.journal ? realpathSync(file) : resolve(file), run);
                else mistakes.push(`${run.error}; ${remedy}`);
            }
        } catch (error) {
            mistakes.push(`${path} cannot be read (${(error as NodeJS.ErrnoException).code}); ${remedy}`);
        }
    }
    const sorted = (some: typeof found) =>
        [...some.values()].filter((run) => isWanted(run, wanted)).sort((a, b) => a.startedAt - b.startedAt);
    return { runs: sorted(found), others: sorted(others), mistakes };
}

const remedy = "name a journal, or a folder of journals";

const filesIn = (folder: string) =>
    readdirSync(folder)
        .filter((name) => journalName.test(name))
        .map((name) => join(folder, name));

function runIn(file: string): { run: ReportedRun; isOfAnotherVersion?: boolean } {
    const read = readJournal(file);
    if ("journal" in read) return { run: runOfJournal(read.journal, file) };
    const experiment = journalName.exec(basename(file))?.[1] ?? basename(file);
    const startedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
    const run = { experiment, error: read.problem, startedAt, durationMs: 0 };
    return { run, isOfAnotherVersion: read.isOfAnotherVersion };
}

function isWanted({ journal, startedAt }: ReportedRun, { since = 0, run }: Wanted): boolean {
    return startedAt >= since && (journal === undefined || run === undefined || journal.plan.run === run);
}
