import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { summaryMarkdown } from "../../../../chaos/report/summary";
import { aborted, bounded, broken, failed, inconclusive, passed, runWith } from "./runs";

/** The cells of the rows below the table's head. */
const rowsIn = (markdown: string) =>
    markdown
        .split("\n")
        .filter((line) => line.startsWith("| "))
        .slice(2)
        .map((line) => line.slice(2, -2).split(" | "));

describe("the Markdown summary", () => {
    it("counts the results, and has a row for each run", () => {
        const markdown = summaryMarkdown([passed, failed, inconclusive, aborted, broken]);
        expect(markdown).toContain(
            "### Chaos experiments: 1 PASSED, 1 FAILED, 1 INCONCLUSIVE, 1 ABORTED, 1 no verdict\n",
        );
        expect(rowsIn(markdown)).toEqual([
            ["departments-scaled-in-time", "PASSED", "180", "100%", "9.2 s", "706 ms"],
            ["hot-deals-blackhole", "**FAILED**", "180", "0%", "never", "706 ms"],
            ["gateway-dns-loss", "**INCONCLUSIVE**", "180", "100%", "9.2 s", "706 ms"],
            ["orders-kill", "**ABORTED**", "180", "–", "–", "–"],
            ["hot-deals-kill", "**no verdict**", "–", "–", "–", "–"],
        ]);
    });

    it("has what the runs of a series show together", () => {
        const ofSeries = (times: number) => {
            const plan = { ...passed.journal!.plan, run: `2026-11-21T10:15:00.000Z-0a0a0a0a-0b0b0b0b-${times}` };
            return summaryMarkdown([runWith({}, { plan }), runWith({ verdict: "FAILED" }, { plan })]);
        };
        const markdown = ofSeries(2);
        expect(markdown).toContain(
            "\ndepartments-scaled-in-time: 1 of 2 PASSED, 1 FAILED; of decided runs 50% passed (95% confidence: " +
                "1.25% to 98.8%)\n",
        );
        // Not complete, it is seen after every run.
        expect(ofSeries(10)).toContain("(95% confidence: 0.84% to 99.2%)");
        expect(summaryMarkdown([passed, failed])).not.toContain("of decided runs");
    });

    it("says beside the rate what it shows, if the run has one check", () => {
        expect(rowsIn(summaryMarkdown([bounded]))[0]![3]).toBe("100% of 14 (95% confidence: at least 80.7%)");
        const { checks } = bounded.journal!.conclusion;
        expect(rowsIn(summaryMarkdown([runWith({ checks })]))[0]![3]).toBe("100%");
    });

    it("has the reasons below, first of the runs that did not pass, and where the pages are", () => {
        const reasons = summaryMarkdown([passed, failed])
            .split("\n")
            .filter((line) => line.startsWith("- "));
        expect(reasons[0]).toMatch(
            /^- \*\*hot-deals-blackhole\*\* FAILED: 0% of 15 requests .*<code>reports\/.*\.html</,
        );
        expect(reasons[1]).toMatch(/^- \*\*departments-scaled-in-time\*\* PASSED: /);
        expect(summaryMarkdown([inconclusive])).toMatch(
            /INCONCLUSIVE \(<code>attack-not-proven<\/code>\): the .*<code>docs\/\S+\.md#attack-not-proven</,
        );
        expect(summaryMarkdown([passed])).toContain("open it in a browser");
        expect(summaryMarkdown([broken])).not.toContain("open it in a browser");
    });

    it("says if a run could not be undone, and if nothing is known of its undoing yet", () => {
        const notUndone = summaryMarkdown([{ ...passed, notUndone: "the API server does not answer" }]);
        expect(rowsIn(notUndone)[0]![1]).toBe("PASSED, **not undone**");
        expect(notUndone).toContain("Not undone: the API server does not answer");
        expect(rowsIn(summaryMarkdown([runWith({}, { recovery: undefined })]))[0]![5]).toBe("not undone yet");
    });

    it("makes no link of a text, whichever a site makes by itself, and shows no control characters", () => {
        const error =
            "see https://evil.example/x, ftp://evil.example, www.evil.example, GH-12, a@evil.example\u001b[2J\u202e";
        const markdown = summaryMarkdown([{ ...broken, error }]);
        expect(markdown).not.toMatch(/(?:https|ftp):\/\/|www\.|GH-12|@evil|[\u001b\u202e]/);
        // It reads the same.
        expect(markdown.replaceAll("\u200b", "")).toContain("see https://evil.example/x, ftp://evil.example, www.evil");
    });

    it("shows pipes, HTML, backticks and Markdown in a text as they are", () => {
        const markdown = summaryMarkdown([
            { ...broken, experiment: "a|b", error: "`x` <img src=y> *z* _q_ \\| [l](m)" },
        ]);
        expect(rowsIn(markdown)).toHaveLength(1);
        expect(rowsIn(markdown)[0]![0]).toBe("a&#124;b");
        expect(markdown).toContain(
            "&#96;x&#96; &#60;img src=y&#62; &#42;z&#42; &#95;q&#95; &#92;&#124; &#91;l&#93;(m)",
        );
    });

    it("notifies nobody, and links to no issue", () => {
        const error = "image node@sha256:0 of @ada, see #12 and !34";
        expect(summaryMarkdown([{ ...broken, error }])).not.toMatch(/[@#!]\w/);
    });

    it("keeps its form for any text", () => {
        fc.assert(
            fc.property(fc.string({ unit: "binary" }), (text) => {
                const lines = summaryMarkdown([{ ...broken, experiment: text, error: text }]).split("\n");
                expect(lines).toHaveLength(8);
                const told = `${lines[4]!.slice(2, -2)} ${lines[6]!.slice(2)}`
                    .replaceAll("**", "")
                    .replaceAll(" | ", " ");
                expect(told.replace(/&#\d+;/g, "")).not.toMatch(/[<>|`*_~[\]\\]/);
            }),
        );
    });

    it("fits into a comment on GitHub, and leaves out passed runs rather than others", () => {
        const reason = "x|".repeat(2_000);
        const runs = [...Array<typeof passed>(400).fill(runWith({ reason })), failed];
        const markdown = summaryMarkdown(runs);
        expect(markdown.length).toBeLessThan(65_536);
        expect(markdown).toContain("400 PASSED, 1 FAILED");
        expect(markdown).toMatch(/\| and \d+ more \|/);
        expect(markdown).toMatch(/^- \*\*hot-deals-blackhole\*\* FAILED/m);
        expect(markdown).toMatch(/^- and \d+ more$/m);
    });
});
