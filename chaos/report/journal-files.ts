import { createHash } from "node:crypto";
import {
    existsSync,
    mkdirSync,
    readdirSync,
    readFileSync,
    realpathSync,
    renameSync,
    statSync,
    writeFileSync,
} from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../values/json";
import type { Plan } from "../definition/plan";
import { type Journal, journalSchema, journalVersion } from "./journal-schema";
import { type ReportedRun, runOfJournal } from "./reported-run";

/**
 * Writes a journal to its path.
 *
 * @param again whether the file is there, and is completed
 * @throws Error with code EEXIST if it is new, and another run's file is there
 */
export function writeJournal(journal: Journal, { again = false } = {}): void {
    journalSchema.parse(journal);
    mkdirSync(journal.plan.reports, { recursive: true });
    const path = journal.conclusion.journal;
    if (!again) writeFileSync(path, "", { flag: "wx" });
    // The file is replaced in one step: an interruption must not lose a journal that is written again.
    replaceFile(path, `${JSON.stringify(journal, undefined, 2)}\n`);
}

/**
 * Path of a new run's journal: `reports/hot-deals-blackhole-1-20261121T101500123Z-0a1b2c3d.json`. Its end is the
 * stack's: others may write to the same folder at the same moment.
 */
export function journalPath({ experiment, run, reports }: Plan, stack: string, startedAt: number): string {
    const time = new Date(startedAt).toISOString().replace(/[-:.]/g, "");
    const readableRun = run.replace(/[^\w.-]+/g, "-").slice(0, 40);
    return join(reports, `${experiment}-${readableRun}-${time}-${stackToken(stack)}.json`);
}

const stackToken = (stack: string) => createHash("sha256").update(stack).digest("hex").slice(0, 8);

/** The journal of a plan's last run by a stack. The plan was JSON. @param stack by name and identity, as leases do */
export function lastJournalOf(plan: Plan, stack: string): Journal | undefined {
    const end = `-${stackToken(stack)}.json`;
    const timeOf = (name: string) => name.slice(0, -end.length).split("-").at(-1)!;
    const names = (existsSync(plan.reports) ? readdirSync(plan.reports) : [])
        .filter((name) => name.startsWith(`${plan.experiment}-`) && name.endsWith(end))
        .sort((a, b) => timeOf(b).localeCompare(timeOf(a)));
    // There may be hundreds, so no more than needed are read.
    for (const name of names) {
        const { journal } = runIn(join(plan.reports, name)).run;
        if (isDeepStrictEqual(journal?.plan, plan)) return journal;
    }
    return undefined;
}

export interface Wanted {
    /** Those that began at this time or later, in milliseconds since the epoch. */
    since?: number;
    /** Those of this name of a run, `experiment.run`. */
    run?: string;
}

/** See `journalPath`. */
const journalName = /^(.+)-\d{8}T\d{9}Z-[0-9a-f]{8}\.json$/;

/**
 * The runs whose journals are in some files and folders, the oldest first. In a folder, only files with names of
 * journals count. If such a file holds no journal, for example because it was cut off, it counts as a run that ended
 * without a verdict when the file was written. Its name is unknown, so `run` does not leave it out.
 *
 * @returns `others`: those whose journals are of other versions. `mistakes`: a sentence for each path that does not
 *   exist, cannot be read or is no journal
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

/** The run whose journal is in a file. If none is, why not, in a sentence. */
function runIn(file: string): { run: ReportedRun; isOfAnotherVersion?: boolean } {
    const without = (error: string, isOfAnotherVersion = false) => {
        const experiment = journalName.exec(basename(file))?.[1] ?? basename(file);
        const startedAt = statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? Date.now();
        return { run: { experiment, error: `${file} ${error}`, startedAt, durationMs: 0 }, isOfAnotherVersion };
    };
    let text: string;
    try {
        text = readFileSync(file, "utf8");
    } catch (error) {
        return without(`cannot be read (${(error as NodeJS.ErrnoException).code})`);
    }
    const document = parseJson(text);
    const { data, error } = journalSchema.safeParse(document);
    if (data) return { run: runOfJournal(data, file) };
    const { schema } = (document ?? {}) as { schema?: unknown };
    if (typeof schema === "number" && schema !== journalVersion)
        return without(
            `is a journal of form ${schema}, and this version of the package reads form ${journalVersion}: run the ` +
                "experiment again, or use the version that wrote the journal",
            true,
        );
    const { path = [], message = "" } = error.issues[0] ?? {};
    const what = path.length === 0 ? "it is not a JSON object" : `${path.join(".")}: ${message}`;
    return without(`does not have the form of a journal: ${what}`);
}

const isWanted = ({ journal, startedAt }: ReportedRun, { since = 0, run }: Wanted): boolean =>
    startedAt >= since && (journal === undefined || run === undefined || journal.plan.run === run);

/** Writes a file in one step, and makes its folder: a reader sees the old text or the new one, never a part of it. */
export function replaceFile(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true });
    const unfinished = `${path}.unfinished`;
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
}
