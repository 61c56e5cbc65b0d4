import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Journal, journalJsonSchema, journalSchema, keptJournals } from "../../../experiments/journal";
import { upgraded } from "../../../experiments/journalVersions";
import { indexPage, runPage } from "../../../experiments/report/page";
import { timelineSvg } from "../../../experiments/report/timeline";

const kept = (file: string) => JSON.parse(readFileSync(join(__dirname, file), "utf8"));
/** Of a real run: departments-scaled-in-time. */
const journal = kept("journal.json") as Journal;
/** Of a real run, as it was written before an experiment could have several attacks: hot-deals, one of two containers cut off. */
const version1 = kept("journal-version-1.json");
const count = (text: string, pattern: RegExp) => [...text.matchAll(pattern)].length;

describe("the journal", () => {
    it("of a real run is as its schema says", () => expect(journalSchema.parse(journal)).toEqual(journal));

    it("has its schema in a file for other programs", () => {
        const schema = readFileSync(join(__dirname, "..", "..", "..", "experiments", "journal.schema.json"), "utf8");
        expect(JSON.parse(schema)).toEqual(JSON.parse(JSON.stringify(journalJsonSchema())));
    });

    it.each<[string, object]>([
        ["a verdict that there is not", { conclusion: { ...journal.conclusion, verdict: "SURVIVED" } }],
        ["another version of the schema", { schema: 3 }],
        ["answers without a time", { checks: [{ name: "/products", answers: [{ latencyMs: 1, good: true }] }] }],
    ])("is refused with %s", (_, changes) =>
        expect(journalSchema.safeParse({ ...journal, ...changes }).success).toBe(false),
    );

    it("is found among other files, the newest first, those of earlier versions too", () => {
        const folder = mkdtempSync(join(tmpdir(), "journals-"));
        const write = (name: string, content: unknown) => writeFileSync(join(folder, name), JSON.stringify(content));
        write("older.json", { ...version1, startedAt: journal.startedAt - 1 });
        write("newer.json", journal);
        write("other.json", { schema: "something else" });
        write("none.json", null);
        expect(keptJournals(folder).map(({ startedAt }) => startedAt)).toEqual([
            journal.startedAt,
            journal.startedAt - 1,
        ]);
    });

    it("of an earlier version says what it said", () => {
        const read = journalSchema.parse(upgraded(version1));
        expect(read.plan).toMatchObject({
            attacks: [{ name: "blackhole", target: version1.plan.target, attack: version1.plan.attack }],
            window: { graceMs: 10_000, durationMs: 12_000 },
        });
        expect(read.attacks).toEqual([{ name: "blackhole", targets: version1.targets, provenAt: version1.attackedAt }]);
        expect(read.checks).toEqual([{ name: "/products", answers: version1.answers }]);
        expect(read.conclusion).toMatchObject(version1.conclusion);
    });
});

describe("the picture of a run", () => {
    const picture = timelineSvg(journal);
    const answers = journal.checks.flatMap((check) => check.answers);

    it("shows each answer to each check once, good ones otherwise than bad ones", () => {
        const good = answers.filter((answer) => answer.good).length;
        expect(good).toBeLessThan(answers.length);
        expect(count(picture, /<circle class="good"/g)).toBe(good);
        expect(count(picture, /<path class="bad"/g)).toBe(answers.length - good);
    });

    it("names each check, each attack and each action", () => {
        for (const { name } of journal.checks) expect(picture).toContain(`>${name}</text>`);
        for (const { name } of journal.attacks) expect(picture).toContain(`>${name}</text>`);
        for (const { action } of journal.actions) expect(picture).toContain(action);
    });

    it("shows when each target left its Service, and names no pod that nothing happened to", () => {
        for (const { targets } of journal.attacks) expect(picture).toContain(`✕ ${targets[0]!.pod.slice(0, 10)}`);
        expect(count(picture, /class="unready"/g)).toBeGreaterThan(0);
        expect(picture).not.toContain("fashion-bestseller");
    });

    it("draws a pod from when it was first seen: who came in the middle of the run was not there before", () => {
        const at = journal.startedAt + 1_000;
        const pods = (seenAt: number) =>
            timelineSvg({
                ...journal,
                actions: [],
                attacks: [],
                readiness: [
                    { at: seenAt, pod: "late", ready: false },
                    { at: at + 500, pod: "late", ready: true },
                ],
            });
        const begins = (svg: string) => Number(/class="unready" x1="([\d.]+)"/.exec(svg)![1]);
        expect(begins(pods(at))).toBeGreaterThan(begins(pods(journal.startedAt)));
    });

    it("names the grace and the window side by side, however short the grace is", () => {
        const short = timelineSvg({
            ...journal,
            plan: { ...journal.plan, window: { graceMs: 100, durationMs: 20_000 } },
        });
        const [, grace, anchor] = /<text class="faint" x="([\d.]+)" y="[\d.]+" text-anchor="(\w+)">grace/.exec(short)!;
        const [, counted] = /x="([\d.]+)" y="[\d.]+" text-anchor="start">under attack/.exec(short)!;
        expect(anchor).toBe("end");
        expect(Number(grace)).toBeLessThan(Number(counted));
    });

    it("says in words what it shows, for who cannot see it", () => {
        expect(picture).toMatch(/role="img" aria-labelledby="title description"/);
        expect(picture).toMatch(
            /<desc id="description">\d+ requests to \/products, \d+ of them bad; \d+ looks at pods of .*; under attack, 100% of the counted answers were good; done meanwhile: wait 2 s, scale .*; recovered/,
        );
    });

    it("of a run whose attack was never proven shows none", () => {
        const { attackedAt: _, recovery: __, ...rest } = journal;
        const unproven = timelineSvg({
            ...rest,
            checks: rest.checks.map((check) => ({ ...check, answers: [] })),
            readiness: [],
        });
        expect(unproven).not.toMatch(/class="(?:attack|grace)"/);
    });
});

describe("the pages", () => {
    it("need nothing but themselves, and show markup in a reason as text", () => {
        const page = runPage({
            ...journal,
            conclusion: { ...journal.conclusion, reason: "<script>alert(1)</script>" },
        });
        expect(page).not.toMatch(/<script|src="http|href="http/);
        expect(page).toContain("&lt;script&gt;");
        expect(page).toContain("<svg");
    });

    it("tell of each attack, each check and each action", () => {
        const page = runPage(journal);
        expect(count(page, /<th scope="row">Attack<\/th>/g)).toBe(2);
        for (const { name } of journal.checks) expect(page).toContain(`<th scope="row">${name}</th>`);
        expect(count(page, /<th scope="row">Done<\/th>/g)).toBe(3);
    });

    it("list all runs, each with a link to its own", () => {
        expect(indexPage([journal])).toContain(
            `href="${journal.conclusion.journal.replace("reports/", "").replace(/json$/, "html")}"`,
        );
    });
});
