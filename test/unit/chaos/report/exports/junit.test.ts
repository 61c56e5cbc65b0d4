import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { validateXML } from "xmllint-wasm";
import { junitXml } from "../../../../../chaos/report/exports/junit";
import { runOfJournal } from "../../../../../chaos/report/reported-run";
import { aborted, bounded, broken, failed, inconclusive, passed, runWith } from "../runs";
import { count, journal } from "../support";

const schema = readFileSync(join(__dirname, "junit.xsd"), "utf8");

/** What keeps a text from following the schema of JUnit files. */
async function problemsOf(xml: string): Promise<string[]> {
    const { errors } = await validateXML({ xml: [{ fileName: "junit.xml", contents: xml }], schema: [schema] });
    return errors.map(({ message }) => message);
}

/** The test cases of a file: by name, the element of their problem and its message. */
function casesIn(xml: string): Record<string, string> {
    const cases = [...xml.matchAll(/<testcase name="([^"]*)"[^>]*?(?:\/>|>(.*?)<\/testcase>)/gs)];
    return Object.fromEntries(
        cases.map(([, name, problem = ""]) => {
            const [, element, message] = /^<(\w+) type="[^"]*" message="([^"]*)"/.exec(problem) ?? [];
            return [name, element === undefined ? "passed" : `${element}: ${message}`];
        }),
    );
}

describe("the JUnit file", () => {
    it("follows the schemas of Jenkins and of Apache Ant, with every kind of result", async () => {
        const notUndone = { ...passed, experiment: "another", notUndone: "the API server does not answer" };
        expect(await problemsOf(junitXml([passed, failed, inconclusive, aborted, broken, notUndone]))).toEqual([]);
        expect(await problemsOf(junitXml([]))).toEqual([]);
    });

    it("would not follow them without a time, or with a second outcome of a test case", async () => {
        const xml = junitXml([failed]);
        expect(await problemsOf(xml.replace(/ time="[^"]*"/, ""))).toHaveLength(1);
        expect(await problemsOf(xml.replace("</failure>", '</failure><error type="x"/>'))).toHaveLength(1);
    });

    it("can be read whatever an application answered", async () => {
        const nasty = 'a <b> & "c" ]]> \u0000\u001b[31m \ud800 \uffff \ud83d\ude00\n\tend';
        const run = runWith({ verdict: "FAILED", reason: nasty, hypothesis: nasty, targets: [nasty] });
        const xml = junitXml([run, { ...broken, experiment: nasty, error: nasty }]);
        expect(await problemsOf(xml)).toEqual([]);
        expect(xml).toContain(
            "a &lt;b&gt; &amp; &quot;c&quot; ]]&gt; \ufffd\ufffd[31m \ufffd \ufffd \ud83d\ude00\n\tend",
        );
    });

    it("has one suite for a series, with one test case for each run, and what they show together", async () => {
        const run = (number: number) => `2026-11-21T10:15:0${number}.000Z-0a0a0a0a-0b0b0b0b-5`;
        const ofSeries = (conclusion: Parameters<typeof runWith>[0], number: number) =>
            runWith({ ...conclusion, name: "repeated" }, { plan: { ...journal.plan, run: run(number) } });
        const xml = junitXml([
            ofSeries({}, 1),
            ofSeries(failed.journal!.conclusion, 2),
            passed,
            ofSeries(inconclusive.journal!.conclusion, 3),
            { ...broken, experiment: "repeated", run: run(4) },
            { ...ofSeries({}, 5), notUndone: "no answer" },
        ]);
        expect(await problemsOf(xml)).toEqual([]);
        expect(count(xml, /<testsuite /g)).toBe(2);
        const [series] = xml.split("</testsuite>") as [string];
        expect(Object.entries(casesIn(series)).map(([name, result]) => `${name} ${result.split(":")[0]}`)).toEqual([
            "run 1 passed",
            "run 2 failure",
            "run 3 error",
            "run 4 error",
            "run 5 error",
        ]);
        expect(series).toContain('name="repeated" ');
        expect(series).toContain(
            '<property name="pass rate" value="2 of 5 PASSED, 1 FAILED, 1 INCONCLUSIVE, 1 no verdict; of',
        );
    });

    it("has a suite for each run, with a test case for the verdict and one for each check", () => {
        const xml = junitXml([passed]);
        expect(count(xml, /<testsuite /g)).toBe(1);
        expect(casesIn(xml)).toEqual({
            verdict: "passed",
            "check /products": "passed",
            "check pods of k8s.deployment=hot-deals": "passed",
            "check pods of k8s.deployment=toys-bestseller": "passed",
        });
        expect(xml).toContain('tests="4" failures="0" errors="0" skipped="0"');
    });

    it("has times in seconds, and when a run began in UTC", () => {
        const xml = junitXml([broken]);
        expect(xml).toContain('time="12.345"');
        expect(xml).toContain(`timestamp="${new Date(journal.startedAt).toISOString().slice(0, 19)}"`);
        expect(junitXml([{ ...broken, durationMs: 1_234_567_890 }])).toContain('time="1234567.890"');
    });

    it("has hypothesis, targets, and the paths of journal and page as properties", () => {
        const xml = junitXml([runOfJournal(journal, "kept/run.json")]);
        for (const [name, value] of [
            ["hypothesis", journal.conclusion.hypothesis],
            ["targets", journal.conclusion.targets.join(", ")],
            ["journal", "kept/run.json"],
            ["page", "kept/run.html"],
        ])
            expect(xml).toContain(`<property name="${name}" value="${value}"/>`);
    });

    it("has what the answers of a check show as a property", () => {
        const property = 'name="success rate of /products" value="100% of 14 (95% confidence: at least 80.7%)"';
        expect(junitXml([bounded])).toContain(property);
        expect(junitXml([passed])).not.toContain("success rate of");
    });

    it("fails for FAILED, with the reason, and for the checks that did not hold", () => {
        const cases = casesIn(junitXml([failed]));
        expect(cases.verdict).toBe(`failure: ${failed.journal!.conclusion.reason}`);
        expect(cases["check /products"]).toMatch(/^failure: .*requests to \/products succeeded under attack/);
        expect(cases["check pods of k8s.deployment=hot-deals"]).toBe("passed");
    });

    it("has an error, and nothing that passed or was skipped, for each run that shows nothing", () => {
        for (const run of [inconclusive, aborted, broken]) {
            const xml = junitXml([run]);
            expect(Object.values(casesIn(xml)).filter((result) => !result.startsWith("error: "))).toEqual([]);
            expect(xml).not.toContain("<skipped");
        }
        expect(junitXml([inconclusive])).toContain(
            '<error type="attack-not-proven" message="INCONCLUSIVE (attack-not-proven): the NetworkPolicy exists, ',
        );
        expect(junitXml([aborted])).toContain('<error type="no-steady-state" message="It is unknown whether the check');
        expect(casesIn(junitXml([broken])).verdict).toBe(
            "error: The run ended without a verdict: update failed: the API server refuses connections",
        );
    });

    it("says of a check that is unknown in a run that failed why it is", () => {
        const unseen = journal.checks.map((check, index) =>
            index === 2
                ? { ...check, answers: check.answers.map((one) => ({ ...one, good: false, unseen: true as const })) }
                : check,
        );
        const { conclusion } = failed.journal!;
        const run = runWith({ ...conclusion, checks: conclusion.checks.slice(0, 2) }, { checks: unseen });
        expect(casesIn(junitXml([run]))["check pods of k8s.deployment=toys-bestseller"]).toMatch(
            /^error: It is unknown whether the check held: .*did not reach the application/,
        );
    });

    it("has an error for a run that could not be undone, even if it passed", () => {
        const xml = junitXml([{ ...passed, notUndone: "the API server does not answer" }]);
        expect(casesIn(xml).undo).toBe("error: the API server does not answer");
        expect(xml).toContain('errors="1"');
    });

    it("tells runs of one experiment apart, by names that do not change from one file to the next", () => {
        const names = [...junitXml([passed, failed, passed]).matchAll(/classname="([^"]*)"/g)].map(([, name]) => name);
        expect([...new Set(names)]).toEqual([
            "chaos.departments-scaled-in-time",
            "chaos.hot-deals-blackhole",
            "chaos.departments-scaled-in-time (2)",
        ]);
    });
});
