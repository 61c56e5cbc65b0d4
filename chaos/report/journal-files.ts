import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../json";
import type { Plan } from "../definition/plan";
import { type Journal, journalSchema, journalVersion } from "./journal-schema";

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
    // In one step: a journal that is written again, with its recovery, must not be lost if that is interrupted.
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

/** The journal in a file, or what is wrong with the file, in a sentence. */
export function readJournal(path: string): { journal: Journal } | { problem: string; isOfAnotherVersion: boolean } {
    let text: string;
    try {
        text = readFileSync(path, "utf8");
    } catch (error) {
        const { code } = error as NodeJS.ErrnoException;
        return { problem: `${path} cannot be read (${code})`, isOfAnotherVersion: false };
    }
    const document = parseJson(text);
    const { data, error } = journalSchema.safeParse(document);
    if (data) return { journal: data };
    const { schema } = (document ?? {}) as { schema?: unknown };
    if (typeof schema === "number" && schema !== journalVersion)
        return {
            problem:
                `${path} is a journal of form ${schema}, and this version of the package reads form ` +
                `${journalVersion}: run the experiment again, or use the version that wrote the journal`,
            isOfAnotherVersion: true,
        };
    const { path: field = [], message = "" } = error.issues[0] ?? {};
    const what = field.length === 0 ? "it is not a JSON object" : `${field.join(".")}: ${message}`;
    return { problem: `${path} does not have the form of a journal: ${what}`, isOfAnotherVersion: false };
}

/** The journal of a plan's last run by a stack. The plan was JSON. @param stack by name and identity, as leases do */
export function lastJournalOf(plan: Plan, stack: string): Journal | undefined {
    const end = `-${stackToken(stack)}.json`;
    const timeOf = (name: string) => name.slice(0, -end.length).split("-").at(-1)!;
    const names = (existsSync(plan.reports) ? readdirSync(plan.reports) : [])
        .filter((name) => name.startsWith(`${plan.experiment}-`) && name.endsWith(end))
        .sort((a, b) => timeOf(b).localeCompare(timeOf(a)));
    // There may be hundreds: no more than needed are read.
    for (const name of names) {
        const read = readJournal(join(plan.reports, name));
        if ("journal" in read && isDeepStrictEqual(read.journal.plan, plan)) return read.journal;
    }
    return undefined;
}

/** Writes a file in one step, and makes its folder: a reader sees the old text or the new one, never a part of it. */
export function replaceFile(path: string, text: string): void {
    mkdirSync(dirname(path), { recursive: true });
    const unfinished = `${path}.unfinished`;
    writeFileSync(unfinished, text);
    renameSync(unfinished, path);
}
