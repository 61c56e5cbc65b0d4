import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { notRun, writeReports } from "../../../cli/experiment-outcomes";
import type { Outcome } from "../../../cli/experiment-runs";
import { failed, passed } from "../chaos/report/runs";
import { scratchFolder } from "../../support/scratch";

const folder = scratchFolder();

const ended: Outcome = { experiment: "hot-deals-kill", startedAt: 1_000, durationMs: 2_500 };

describe("the reports of `npm run experiment`", () => {
    it("have every run in one file, also one that failed and one that was not begun", () => {
        const files = { junit: join(folder, "ci", "junit.xml"), summary: join(folder, "ci", "summary.md") };
        const outcomes = [
            { ...ended, journal: passed.journal },
            // With experiment.onFailure=fail, the update of a run with a verdict fails.
            { ...ended, journal: failed.journal, error: "FAILED: 0% of 15 requests" },
            { ...ended, error: "no target matches k8s.deployment=hot-dels" },
            notRun("orders-kill", "interrupted before it began"),
        ];
        const lines: string[] = [];
        expect(writeReports(files, outcomes, (line) => lines.push(line))).toBe(true);
        expect(lines).toEqual([files.junit, files.summary].map((path) => `  Wrote          ${path}`));
        const junit = readFileSync(files.junit, "utf8");
        expect(junit.match(/<testcase name="verdict"/g)).toHaveLength(4);
        expect(junit.match(/<error type="no verdict"/g)).toHaveLength(2);
        expect(readFileSync(files.summary, "utf8")).toContain("1 PASSED, 1 FAILED, 2 no verdict");
    });

    it("say if a run could not be undone", () => {
        const summary = join(folder, "not-undone.md");
        const notUndone = "the API server does not answer";
        writeReports({ summary }, [{ ...ended, journal: passed.journal, notUndone }], () => undefined);
        expect(readFileSync(summary, "utf8")).toContain(notUndone);
    });

    it("that cannot be written are reported, and do not hide the verdicts", () => {
        mkdirSync(join(folder, "x.xml.unfinished"));
        const lines: string[] = [];
        expect(writeReports({ junit: join(folder, "x.xml") }, [ended], (line) => lines.push(line))).toBe(false);
        expect(lines).toEqual([expect.stringMatching(/^A report could not be written: EISDIR/)]);
        expect(existsSync(join(folder, "x.xml"))).toBe(false);
        expect(writeReports({}, [ended], (line) => lines.push(line))).toBe(true);
        expect(lines).toHaveLength(1);
    });
});
