import { describe, expect, it } from "vitest";
import { badgeSvg } from "../../../../chaos/report/exports/badge";
import type { Conclusion } from "../../../../chaos/report/conclusion";
import type { ReportedRun } from "../../../../chaos/report/reported-run";
import { indexPage } from "../../../../chaos/report/runs-page";
import { aborted, broken, failed, inconclusive, passed, runWith } from "./runs";
import { count, journal } from "./support";

const all = [passed, failed, inconclusive, aborted, broken];
const day = 86_400_000;

/** Runs of one experiment, one a day, the oldest first. */
const daily = (...conclusions: Partial<Conclusion>[]): ReportedRun[] =>
    conclusions.map((conclusion, index) =>
        runWith({ name: "daily", ...conclusion }, { startedAt: Date.UTC(2026, 10, 1) + index * day }),
    );

describe("the page of all runs", () => {
    const page = indexPage(all, "reports");

    it("has a row for each experiment, and a cell for each run that says its verdict in a letter and in words", () => {
        const [grid] = page.split("<h2>") as [string];
        expect(count(grid, /<th scope="row">/g)).toBe(4);
        const cells = [...page.matchAll(/<a class="cell (\w+)" href="([^"]*)" title="([^"]*)"[^>]*>(\w) <time>/g)];
        expect(cells.map(([, verdict, , , letter]) => [verdict, letter]).sort()).toEqual([
            ["ABORTED", "A"],
            ["FAILED", "F"],
            ["INCONCLUSIVE", "I"],
            ["PASSED", "P"],
        ]);
        for (const [, verdict, href, title] of cells) {
            expect(title).toContain(`: ${verdict}`);
            expect(href).toMatch(/^[\w.-]+\.html$/);
            expect(page).toContain(`aria-label="${title}"`);
        }
    });

    it("lists all with their reasons, also those without a verdict, and markup in these as text", () => {
        expect(count(page, /<li><p>/g)).toBe(5);
        expect(page).toContain('<span class="verdict">no verdict</span> hot-deals-kill</p><p>The run ended without a');
        expect(page).toContain("1 PASSED, 1 FAILED, 1 INCONCLUSIVE, 1 ABORTED, 1 no verdict");
        const markup = "<script>alert(1)</script>";
        expect(indexPage([{ ...broken, error: markup }], "")).not.toContain("<script");
        expect(indexPage([runWith({ reason: markup })], "")).not.toContain("<script");
        expect(indexPage([], "")).not.toContain("<table");
    });

    it("has the newest run first, how many of the decided passed, and the last change of the verdict", () => {
        const failing = { verdict: "FAILED" } as const;
        const shown = indexPage(daily({}, failing, {}, failing, failing), "reports");
        expect([...shown.matchAll(/class="cell \w+"[^>]*title="(\S+)/g)].map(([, date]) => date)).toEqual(
            [5, 4, 3, 2, 1].map((date) => `2026-11-0${date}`),
        );
        expect(shown).toContain(
            'daily<div class="faint">2 of 5 decided passed (95%, if nothing was changed in between: 3% to 89.9%)</div>',
        );
        expect(indexPage([inconclusive, aborted], "")).toContain(">none decided</div>");
        expect(shown).toContain(">FAILED since 2026-11-04, PASSED before</div>");
        expect(indexPage(daily({}, {}), "")).toContain(">always PASSED</div>");
    });

    it("has the interval of a series that is watched: the page is, after every run", () =>
        expect(indexPage(daily({}, {}, {}), "")).toContain(
            "3 of 3 decided passed (95%, if nothing was changed in between: 23.2% to 100%)",
        ));

    const withFirstFailures = (...times: (number | null)[]) =>
        indexPage(daily(...times.map((timeToFirstFailureMs) => ({ timeToFirstFailureMs }))), "");

    it("draws the times of more than five runs as lines: gaps where there is none, and the newest in words", () => {
        const shown = withFirstFailures(null, 1_000, null, 2_000, 4_000, null);
        expect(shown).toContain('aria-label="First failure: never; the longest of 6: 4 s"');
        expect(/<path d="([^"]*)"/.exec(shown)![1]).toBe("M14.6 3h0L26.2 8M49.4 10.5h0");
    });

    it("has the times of few runs in words, and their dates, by which runs of one experiment are told apart", () => {
        const shown = withFirstFailures(1_000, null, 2_000);
        expect(shown).toContain('aria-label="First failure">2 s, never, 1 s</div>');
        expect([...shown.matchAll(/>P <time>([^<]*)<\/time>/g)].map(([, date]) => date)).toEqual(
            ["11-03", "11-02", "11-01"].map((date) => `${date} 00:00:00`),
        );
        expect(indexPage([aborted], "")).toContain('aria-label="First failure">–</div>');
    });

    it("has the picture of each of the newest twenty runs that began", () => {
        const many = indexPage([...daily(...Array.from({ length: 30 }, () => ({}))), aborted, broken], "");
        expect(count(many, /<img src="[^"]*\.svg" alt="Its answers over time"/g)).toBe(20);
        expect(indexPage([aborted, broken], "")).not.toContain("<img");
    });

    it("links to pages in other folders, also with spaces or signs in their names", () => {
        expect(indexPage([{ ...passed, path: "a b/#1/x.json" }], "site")).toContain('href="../a%20b/%231/x.html"');
    });

    it("gives a run's name, unless that is a time", () => {
        const named = (run: string) => indexPage([runWith({}, { plan: { ...journal.plan, run } })], "");
        const { name } = journal.conclusion;
        expect(named("first")).toContain(`>${name}, run first</a>`);
        expect(named("2026-11-24T20:54:05.453Z")).toContain(`>${name}</a>`);
    });
});

describe("the badge", () => {
    it("counts the newest run of each experiment, and names those that have not passed", () => {
        const badge = badgeSvg([...daily({ verdict: "FAILED" }, {}), failed, passed, broken]);
        expect(badge).toContain(">2 of 4 passed</text>");
        expect(badge).toContain(
            "<title>Chaos experiments: 2 of 4 passed; hot-deals-blackhole FAILED; hot-deals-kill no verdict</title>",
        );
        expect(badge).toContain('<rect class="bad"');
        expect(badgeSvg(daily({ verdict: "FAILED" }, {}))).toMatch(/<rect class="good".*>1 of 1 passed</);
        const unread = (experiment: string, startedAt: number) => ({ ...broken, experiment, startedAt });
        const [old, run] = daily({}, {}) as [ReportedRun, ReportedRun];
        expect(badgeSvg([run, unread("daily-1", run.startedAt + 1)])).toMatch(/<rect class="bad".*>0 of 1 passed</);
        expect(badgeSvg([run, unread("daily-1", old.startedAt)])).toMatch(/<rect class="good".*>1 of 1 passed</);
        expect(badgeSvg([run, unread("daily2-1", old.startedAt)])).toMatch(/<rect class="bad".*>1 of 2 passed</);
        expect(badgeSvg([])).toMatch(/<rect class="unknown".*>no runs</);
    });

    it("does not hide that an experiment failed in one cluster, if it passed later in another", () => {
        const [before, after] = daily({ verdict: "FAILED" }, {}) as [ReportedRun, ReportedRun];
        const inProduction = { ...before, journal: { ...before.journal!, plan: { ...journal.plan, context: "prod" } } };
        const badge = badgeSvg([inProduction, after]);
        expect(badge).toContain(">1 of 2 passed</text>");
        expect(badge).toContain("<title>Chaos experiments: 1 of 2 passed; daily in prod/e2e-model FAILED</title>");
    });
});
