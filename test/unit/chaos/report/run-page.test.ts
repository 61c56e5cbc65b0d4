import { describe, expect, it } from "vitest";
import type { Journal } from "../../../../chaos/report/journal-schema";
import { runPage } from "../../../../chaos/report/run-page";
import { indexPage } from "../../../../chaos/report/runs-page";
import { timelineSvg } from "../../../../chaos/report/timeline";
import { bounded, passed } from "./runs";
import { count, journal } from "./support";

describe("the pages", () => {
    it("need no other file, and show markup in a reason as text", () => {
        const page = runPage({
            ...journal,
            conclusion: { ...journal.conclusion, reason: "<script>alert(1)</script>" },
        });
        expect(page).not.toMatch(/<script|src="http|href="http/);
        expect(page).toContain("&lt;script&gt;");
        expect(page).toContain("<svg");
    });

    it("give the code of a reason, and where it is explained", () => {
        const conclusion = { ...journal.conclusion, verdict: "ABORTED", code: "no-target" } as const;
        const page = runPage({ ...journal, conclusion });
        expect(page).toContain("ABORTED (no-target)</span>");
        expect(page).toContain("What to do: docs/troubleshooting.md#no-target");
        expect(runPage(journal)).not.toContain("What to do");
    });

    it("have one heading; the picture alone has its own", () => {
        const [heading] = [`${journal.conclusion.name}: PASSED`];
        expect(timelineSvg(journal)).toContain(`>${heading}</text>`);
        expect(count(runPage(journal), /<h1|class="title"/g)).toBe(1);
    });

    it("name each attack, each check and each action", () => {
        const page = runPage(journal);
        expect(count(page, /<th scope="row">Attack<\/th>/g)).toBe(2);
        const names = page.replaceAll("<wbr>", "");
        for (const { name } of journal.checks) expect(names).toContain(`<th scope="row">${name}</th>`);
        expect(count(page, /<th scope="row">Done<\/th>/g)).toBe(3);
    });

    it("say of each attack that denies connections what became of established ones", () => {
        const established = [
            { attack: "blackhole", direction: "inward" as const, became: "survived" },
            { attack: "dns", became: "unknown" },
        ];
        const page = runPage({ ...journal, conclusion: { ...journal.conclusion, established } });
        expect(page).toContain("Established connections of blackhole (inward)</th><td>survived</td>");
        expect(count(page, /<th scope="row">Established/g)).toBe(1);
        expect(runPage(journal)).not.toContain('<th scope="row">Established');
    });

    it("say what the bounds of their rates assume, if there are any", () => {
        const [first, ...others] = journal.conclusion.checks;
        const checks = [{ ...first!, bound: { level: "95%", answers: 15, atLeast: "81.8%" } }, ...others];
        const assumption = "The confidence in a success rate assumes that each request";
        expect(runPage({ ...journal, conclusion: { ...journal.conclusion, checks } })).toContain(assumption);
        const without = journal.conclusion.checks.map(({ bound: _, ...check }) => check);
        const page = runPage({ ...journal, conclusion: { ...journal.conclusion, checks: without } });
        expect(page).not.toContain(assumption);
    });

    it("show both distributions of a check that is compared with before the attack, and what that assumes", () => {
        const [first, ...others] = journal.conclusion.checks;
        const change = { of: "p95", before: "31 ms", during: "240 ms", by: "7.7x", level: "95%", atMost: "9x" };
        const changes = [{ ...change, atLeast: "5.1x", required: "2x", isWithin: false }];
        const page = runPage({
            ...journal,
            baseline: [{ name: first!.name, at: journal.startedAt, outcomes: [10, 20, "bad"] }],
            conclusion: { ...journal.conclusion, checks: [{ ...first!, changes }, ...others] },
        });
        expect(count(page, /<svg[^>]* class="distributions"/g)).toBe(1);
        expect(page).toContain(
            "before: 3 answers, 1 bad; of the good ones: median 10 ms, 95% within 20 ms; under attack: ",
        );
        expect(page).toContain(
            ">p95 31 ms before, 240 ms under attack: 7.7x (95% confidence: at least 5.1x; required: at most 2x)<",
        );
        expect(page).toContain("The bounds assume that nothing but the attack has changed in between.");
        expect(runPage(journal)).not.toContain("distributions");
    });

    it("tell what was not proven, in words and in the picture", () => {
        const outwardUnproven = [{ attack: "blackhole", pods: ["a-1", "a-2"] }];
        const page = runPage({ ...journal, conclusion: { ...journal.conclusion, outwardUnproven } });
        expect(page).toContain(
            "Not proven of blackhole</th><td>outward was not proven: nothing could be tried in a-1, a-2</td>",
        );
        expect(page).toContain(">outward was not proven</text>");
        expect(runPage(journal)).not.toContain("not proven");
    });

    it("say what each stressed container used", () => {
        const use = { cores: 0.1, throttled: 0, bytes: 2 ** 20, node: {} };
        const of = { pod: "web-1", container: "web", tool: "sh", cgroup: 1 as const, limit: {} };
        const attacks = [{ ...journal.attacks[0]!, usage: [{ ...of, before: use, under: use }] }];
        expect(runPage({ ...journal, attacks })).toContain("web-1/web used 0.1 cores before, 0.1 under attack");
    });

    it("name each pod whose eviction was refused, and tell of each answer of the API server once", () => {
        const refusedFor = (problem: string, ...pods: string[]) =>
            pods.map((pod) => ({ at: 0, pod, uid: pod, problem }));
        const refused = [...refusedFor("a budget needs it", "a", "b"), ...refusedFor("<two> budgets", "c")];
        const [attack, ...others] = journal.attacks;
        expect(runPage({ ...journal, attacks: [{ ...attack!, refused }, ...others] })).toContain(
            "; refused the eviction of a, b: a budget needs it; refused the eviction of c: &lt;two&gt; budgets</td>",
        );
        expect(runPage(journal)).not.toContain("eviction");
    });

    it("give no share of good answers if none counts", () => {
        const requestsOf = ({ conclusion, ...changes }: Partial<Journal>) => {
            const page = runPage({
                ...{ ...journal, ...changes },
                conclusion: { ...journal.conclusion, requests: 3, successRate: "0%", ...conclusion },
            });
            return /<th scope="row">Requests<\/th><td>([^<]*)/.exec(page)![1];
        };
        const { attackedAt } = journal;
        const grace = journal.checks.map((check) => ({
            ...check,
            answers: [{ at: attackedAt!, latencyMs: 1, good: true }],
        }));
        expect(requestsOf({})).toBe("3, 0% succeeded after the grace period");
        expect(requestsOf({ checks: grace })).toBe("3, none counted");
        const aborted = { ...journal.conclusion, verdict: "ABORTED", requests: 3 } as const;
        expect(requestsOf({ conclusion: aborted, attackedAt: undefined })).toBe("3, none counted");
    });

    it("say beside a rate what it shows, of the run or of each check", () => {
        const shows = "100% of 14 succeeded after the grace period (95% confidence: at least 80.7%)</td>";
        expect(runPage(bounded.journal!)).toContain(`Requests</th><td>180, ${shows}`);
        const { checks } = bounded.journal!.conclusion;
        const several = { ...journal.conclusion, checks: [...checks, ...journal.conclusion.checks.slice(1)] };
        const page = runPage({ ...journal, conclusion: several });
        expect(page).toContain("Requests</th><td>180, 100% succeeded after the grace period</td>");
        expect(page).toContain(`/products</th><td>held: 60 checks, ${shows}`);
    });

    it("tell of an abort: when, which check, and how far below its limit", () => {
        const aborted = { check: "/products", afterMs: 25_000, rate: "20%", answers: 10, below: "50%", overMs: 10_000 };
        expect(runPage({ ...journal, aborted })).toContain(
            "25 s after the attack was proven: /products, 20% of 10 answers in the last 10 s were good " +
                "(abort below 50%)",
        );
        expect(runPage(journal)).not.toContain("Aborted");
    });

    it("are dark on a screen only: paper is white", () => {
        for (const page of [runPage(journal), indexPage([passed], "reports")]) {
            expect(count(page, /prefers-color-scheme: dark/g)).toBe(
                count(page, /screen and \(prefers-color-scheme: dark/g),
            );
        }
    });

    it("break the name of a check after a slash", () => {
        const checks = ["/products/exception", "a/b"].map((name) => ({ ...journal.conclusion.checks[0]!, name }));
        const page = runPage({ ...journal, conclusion: { ...journal.conclusion, checks } });
        expect(page).toContain('<th scope="row">/products/<wbr>exception</th>');
    });

    it("say which time is the run's beginning and which its name", () => {
        const run = "2026-11-24T20:54:05.453Z";
        const [startedAt, conclusion] = [Date.UTC(2026, 10, 24, 20, 54, 12, 961), { ...journal.conclusion, run }];
        const named = { ...journal, startedAt, conclusion, plan: { ...journal.plan, run } };
        expect(runPage(named)).toContain(`Run</th><td>began 2026-11-24 20:54:12 UTC, named ${run}</td>`);
    });
});
