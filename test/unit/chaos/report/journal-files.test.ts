import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalPath, lastJournalOf, writeJournal } from "../../../../chaos/report/journal-files";
import { addRecovery } from "../../../../chaos/report/report";
import { journal } from "./support";

describe("the journal", () => {
    it("of another stack is never overwritten or completed, even of one of the same name at the same moment", () => {
        const reports = mkdtempSync(join(tmpdir(), "journals-"));
        const plan = { ...journal.plan, reports };
        const { recovery, ...unfinished } = journal;
        const write = (stack: string) => {
            const path = journalPath(plan, stack, journal.startedAt);
            writeJournal({ ...unfinished, plan, conclusion: { ...journal.conclusion, journal: path } });
            return path;
        };
        const [ours, theirs] = ["local/0123456789abcdef", "local/fedcba9876543210"];
        const paths = [write(ours), write(theirs)];
        addRecovery(plan, ours, recovery!);
        const recoveries = paths.map((path) => JSON.parse(readFileSync(path, "utf8")).recovery);
        expect(recoveries).toEqual([recovery, undefined]);
        expect(() => write(ours)).toThrow(/EEXIST/);
        expect(lastJournalOf(plan, "local/of-nobody")).toBeUndefined();
        rmSync(reports, { recursive: true });
    });
});
