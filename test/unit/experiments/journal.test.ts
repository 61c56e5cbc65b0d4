import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Journal, journalJsonSchema, journalSchema, keptJournals } from "../../../experiments/journal";
import { indexPage, runPage } from "../../../experiments/report/page";
import { timelineSvg } from "../../../experiments/report/timeline";

/** Of a real run: hot-deals with two replicas, one of them cut off. */
const journal = JSON.parse(readFileSync(join(__dirname, "journal.json"), "utf8")) as Journal;
const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;

describe("the journal", () => {
    it("of a real run is as its schema says", () => expect(journalSchema.parse(journal)).toEqual(journal));

    it("has its schema in a file for other programs", () => {
        const kept = readFileSync(join(__dirname, "..", "..", "..", "experiments", "journal.schema.json"), "utf8");
        expect(JSON.parse(kept)).toEqual(JSON.parse(JSON.stringify(journalJsonSchema())));
    });

    it.each<[string, object]>([
        ["a verdict that there is not", { conclusion: { ...journal.conclusion, verdict: "SURVIVED" } }],
        ["another version of the schema", { schema: 2 }],
        ["answers without a time", { answers: [{ latencyMs: 1, good: true }] }],
    ])("is refused with %s", (_, changes) => expect(journalSchema.safeParse({ ...journal, ...changes }).success).toBe(false));

    it("is found among other files, the newest first", () => {
        const folder = mkdtempSync(join(tmpdir(), "journals-"));
        const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));
        write("older.json", journal);
        write("newer.json", { ...journal, startedAt: journal.startedAt + 1 });
        write("other.json", { schema: "something else" });
        expect(keptJournals(folder).map(({ startedAt }) => startedAt)).toEqual([journal.startedAt + 1, journal.startedAt]);
    });
});

describe("the picture of a run", () => {
    const picture = timelineSvg(journal);

    it("shows each answer once, good ones otherwise than bad ones", () => {
        const good = journal.answers.filter((answer) => answer.good).length;
        expect(good).toBeLessThan(journal.answers.length);
        expect(count(picture, /<circle class="good"/g)).toBe(good);
        expect(count(picture, /<path class="bad"/g)).toBe(journal.answers.length - good);
    });

    it("shows when the target left its Service, and names no pod that nothing happened to", () => {
        expect(picture).toContain(`✕ ${journal.targets[0]!.pod.slice(0, 10)}`);
        expect(count(picture, /class="unready"/g)).toBeGreaterThan(0);
        expect(picture).not.toContain("fashion-bestseller");
    });

    it("says in words what it shows, for who cannot see it", () => {
        expect(picture).toMatch(/role="img" aria-labelledby="title description"/);
        expect(picture).toMatch(/<desc id="description">\d+ requests to \/products, \d+ of them bad; under attack, 100% of the counted answers were good; recovered/);
    });

    it("of a run whose attack was never proven shows none", () => {
        const { attackedAt: _, recovery: __, ...rest } = journal;
        const unproven = timelineSvg({ ...rest, answers: [], readiness: [] });
        expect(unproven).not.toMatch(/class="(?:attack|grace)"/);
    });
});

describe("the pages", () => {
    it("need nothing but themselves, and show markup in a reason as text", () => {
        const page = runPage({ ...journal, conclusion: { ...journal.conclusion, reason: "<script>alert(1)</script>" } });
        expect(page).not.toMatch(/<script|src="http|href="http/);
        expect(page).toContain("&lt;script&gt;");
        expect(page).toContain("<svg");
    });

    it("list all runs, each with a link to its own", () => {
        expect(indexPage([journal])).toContain(`href="${journal.conclusion.journal.replace("reports/", "").replace(/json$/, "html")}"`);
    });
});
