import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
    journalJsonSchema,
    journalPath,
    journalSchema,
    keptJournals,
    lastJournalOf,
    writeJournal,
} from "../../../../chaos/report/journal";
import { upgraded } from "../../../../chaos/report/journal-versions";
import { addRecovery } from "../../../../chaos/report/report";
import { journal, version1, version2 } from "./support";

describe("the journal", () => {
    it("of a real run matches its schema, and nothing of it is lost", () =>
        expect(journalSchema.parse(journal)).toEqual(upgraded(version2)));

    it("has its schema in a file, for other programs", () => {
        const schema = readFileSync(
            join(__dirname, "..", "..", "..", "..", "chaos", "report", "journal.schema.json"),
            "utf8",
        );
        expect(JSON.parse(schema)).toEqual(JSON.parse(JSON.stringify(journalJsonSchema())));
    });

    it("of a run that was aborted says when and why; others, and those of earlier versions, do not", () => {
        const aborted = { check: "/products", afterMs: 25_000, rate: "20%", answers: 10, below: "50%", overMs: 10_000 };
        const written = JSON.parse(JSON.stringify({ ...journal, aborted }));
        expect(journalSchema.parse(written).aborted).toEqual(aborted);
        expect(journalSchema.parse(journal)).not.toHaveProperty("aborted");
        expect(journalSchema.safeParse({ ...journal, aborted: { check: "/products" } }).success).toBe(false);
    });

    it.each<[string, object]>([
        ["a verdict that does not exist", { conclusion: { ...journal.conclusion, verdict: "SURVIVED" } }],
        ["another version of the schema", { schema: 4 }],
        ["answers without a time", { checks: [{ name: "/products", answers: [{ latencyMs: 1, good: true }] }] }],
    ])("with %s is rejected", (_, changes) =>
        expect(journalSchema.safeParse({ ...journal, ...changes }).success).toBe(false),
    );

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

    it("of version 1 keeps everything that it said", () => {
        const read = journalSchema.parse(upgraded(version1));
        expect(read.plan).toMatchObject({
            attacks: [{ name: "blackhole", target: version1.plan.target, attack: version1.plan.attack }],
            window: { graceMs: 10_000, durationMs: 12_000 },
        });
        expect(read.attacks).toEqual([{ name: "blackhole", targets: version1.targets, provenAt: version1.attackedAt }]);
        expect(read.checks).toEqual([{ name: "/products", answers: version1.answers }]);
        expect(read.conclusion).toMatchObject(version1.conclusion);
    });

    it("of version 2 keeps everything that it said", () => {
        const { plan, ...rest } = upgraded(version2) as typeof version2;
        const { shopNamespace, ...samePlan } = version2.plan;
        expect(rest).toEqual({ ...version2, schema: 3, plan: undefined });
        expect(plan).toEqual({ ...samePlan, defaultNamespace: shopNamespace, reports: "reports" });
    });
});
