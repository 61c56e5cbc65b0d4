import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { parseJson } from "../checks/json";
import type { Plan } from "../definition/plan";
import { type Journal, journalSchema } from "./journal-schema";
import { upgraded } from "./journal-versions";
import { replaceFile } from "./output-files";

/**
 * Writes a journal to its path.
 *
 * @param again whether the file is there, and is completed
 * @throws ZodError if the journal does not match its schema
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
 *
 * @param stack by name and identity, as leases name it
 */
export function journalPath({ experiment, run, reports }: Plan, stack: string, startedAt: number): string {
    const time = new Date(startedAt).toISOString().replace(/[-:.]/g, "");
    const readableRun = run.replace(/[^\w.-]+/g, "-").slice(0, 40);
    return join(reports, `${experiment}-${readableRun}-${time}-${stackToken(stack)}.json`);
}

const stackToken = (stack: string) => createHash("sha256").update(stack).digest("hex").slice(0, 8);

/** Whether a journal may be a stack's. Names of journals of version 0.1 do not end with the stack. */
function maybeOf(stack: string, { conclusion }: Journal): boolean {
    const token = /Z-([0-9a-f]{8})\.json$/.exec(conclusion.journal)?.[1];
    return token === undefined || token === stackToken(stack);
}

/** The journal in a file, of any version, or what is wrong with it. */
export const readJournal = (path: string) => journalSchema.safeParse(upgraded(parseJson(readFileSync(path, "utf8"))));

/** All journals in a folder, including those of earlier versions, newest first. Other files are skipped. */
export function keptJournals(folder: string): Journal[] {
    const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith(".json")) : [];
    const journals = files.flatMap((file) => readJournal(join(folder, file)).data ?? []);
    return journals.sort((a, b) => b.startedAt - a.startedAt);
}

/** The journal of a plan's last run by a stack. @param stack by name and identity, as leases name it */
export function lastJournalOf(plan: Plan, stack: string): Journal | undefined {
    // Journals of earlier versions do not name the Service.
    const comparable = (one: Plan) => ({ ...one, service: undefined });
    const wanted = comparable(plan);
    return keptJournals(plan.reports).find(
        (journal) => maybeOf(stack, journal) && isDeepStrictEqual(comparable(journal.plan), wanted),
    );
}
