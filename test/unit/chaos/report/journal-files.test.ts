import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { journalPath, keptJournals, lastJournalOf, writeJournal } from "../../../../chaos/report/journal-files";
import { addRecovery } from "../../../../chaos/report/report";
import { journal, version1, version2 } from "./support";

describe("the journal", () => {
    it("of an earlier version's run is found by the plan that undoes it, which names the Service", () => {
        const reports = mkdtempSync(join(tmpdir(), "journals-"));
        const plan = { ...version2.plan, reports };
        writeFileSync(join(reports, "run.json"), JSON.stringify({ ...journal, plan: { ...journal.plan, reports } }));
        const { shopNamespace, ...rest } = plan;
        const service = { namespace: shopNamespace, name: "gateway", port: 80 };
        expect(lastJournalOf({ ...rest, defaultNamespace: shopNamespace, service }, "local")?.startedAt).toBe(
            journal.startedAt,
        );
        const another = { ...rest, run: "another", defaultNamespace: shopNamespace, service };
        expect(lastJournalOf(another, "local")).toBeUndefined();
    });

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

    it("of any version is found among other files, the newest first", () => {
        const folder = mkdtempSync(join(tmpdir(), "journals-"));
        const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));
        write("oldest.json", { ...version1, startedAt: journal.startedAt - 2 });
        write("older.json", { ...version2, startedAt: journal.startedAt - 1 });
        write("newer.json", journal);
        write("other.json", { schema: "something else" });
        write("none.json", null);
        const found = keptJournals(folder);
        rmSync(folder, { recursive: true });
        expect(found.map(({ startedAt }) => startedAt)).toEqual([
            journal.startedAt,
            journal.startedAt - 1,
            journal.startedAt - 2,
        ]);
    });
});
