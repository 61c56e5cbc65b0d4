import { verdictLine } from "../../values/reasons";
import { groupedBy } from "../../values/grouped";
import { element, escape, inLines } from "../markup";
import { describeSeries } from "../pass-rate";
import { checksOf, codeOf, named, pageOf, reasonOf, type ReportedRun, resultOf } from "../reported-run";
import { intervalFor, seriesOf } from "../series";
import { rateOf } from "../rates";

/** The first part of the names of classes, which Jenkins shows as a package. */
const packageName = "chaos";
/** Longer attributes `message` are cut. The whole text is the element's contents. */
const messageLength = 500;

interface TestCase {
    name: string;
    durationMs: number;
    problem?: Problem;
}

interface Problem {
    /** `failure`: something did not hold. `error`: it is not known whether it did. */
    element: "failure" | "error";
    type: string;
    text: string;
}

/**
 * Runs as a JUnit XML file: a suite for each run, and in it a test case for the verdict and one for each check. The
 * runs of a series are one suite, with a test case for each: how many pass is what the series was made for. A run
 * that shows nothing is an error, and not skipped: readers of these files count skipped tests as good.
 *
 * The file follows both published schemas, that of Jenkins (junit-10.xsd) and that of Apache Ant (JUnit.xsd). The
 * latter wants some attributes and elements that have no meaning here.
 */
export function junitXml(runs: readonly ReportedRun[]): string {
    const groups = groupedBy([...runs.entries()], ([index, run]) => seriesOf(run)?.id ?? index);
    const together = [...groups.values()].map((entries) => entries.map(([, run]) => run));
    const firsts = named(together.map(([first]) => first!));
    const suites = together.map((ofOne, id) => suite(ofOne, firsts[id]!.name, id));
    return `<?xml version="1.0" encoding="UTF-8"?>\n${inLines("testsuites", {}, suites)}\n`;
}

function suite(runs: readonly ReportedRun[], name: string, id: number): string {
    const run = runs[0]!;
    const isSeries = seriesOf(run) !== undefined;
    const cases = isSeries ? runs.map(caseOfRun) : casesOf(run);
    const count = (kind: Problem["element"]) => cases.filter(({ problem }) => problem?.element === kind).length;
    const attributes = {
        id,
        name,
        package: packageName,
        // The time is in UTC, because the schema allows no time zone.
        timestamp: new Date(run.startedAt).toISOString().slice(0, 19),
        hostname: "localhost",
        tests: cases.length,
        failures: count("failure"),
        errors: count("error"),
        skipped: 0,
        time: seconds(runs.reduce((sum, { durationMs }) => sum + durationMs, 0)),
    };
    return inLines("testsuite", attributes, [
        inLines("properties", {}, isSeries ? propertiesOfSeries(runs) : propertiesOf(run)),
        ...cases.map((one) => testCase(one, `${packageName}.${name}`)),
        element("system-out", {}),
        element("system-err", {}),
    ]);
}

function propertiesOf(run: ReportedRun): string[] {
    if (run.journal === undefined) return [];
    const { hypothesis, attack, targets, run: name, verdict, journal } = run.journal.conclusion;
    const bounded = run.journal.conclusion.checks.filter(({ bound }) => bound !== undefined);
    const properties = {
        ...{ hypothesis, attack, targets: targets.join(", "), run: name, verdict },
        journal: run.path ?? journal,
        page: pageOf(run) ?? "",
        ...Object.fromEntries(bounded.map((check) => [`success rate of ${check.name}`, rateOf(check)])),
    };
    return listed(properties);
}

const listed = (properties: Record<string, string>) =>
    Object.entries(properties).map(([name, value]) => element("property", { name, value }));

function propertiesOfSeries(runs: readonly ReportedRun[]): string[] {
    const pages = runs.flatMap((run, index) => {
        const page = pageOf(run);
        return page === undefined ? [] : [[`page of run ${index + 1}`, page]];
    });
    const hypothesis = runs.find(({ journal }) => journal)?.journal?.conclusion.hypothesis;
    return listed({
        ...(hypothesis !== undefined && { hypothesis }),
        "pass rate": describeSeries(runs, intervalFor(runs)),
        ...(Object.fromEntries(pages) as Record<string, string>),
    });
}

function caseOfRun(run: ReportedRun, index: number): TestCase {
    const notUndone = run.notUndone === undefined ? undefined : problemOfUndo(run.notUndone);
    return { name: `run ${index + 1}`, durationMs: run.durationMs, problem: notUndone ?? problemOfVerdict(run) };
}

const problemOfUndo = (text: string): Problem => ({ element: "error", type: "not undone", text });

function casesOf(run: ReportedRun): TestCase[] {
    const checks = run.journal === undefined ? [] : checksOf(run.journal);
    return [
        { name: "verdict", durationMs: run.durationMs, problem: problemOfVerdict(run) },
        ...checks.map(({ name, held, code = "unknown", reason: text, durationMs }): TestCase => {
            const problem: Problem =
                held === undefined
                    ? { element: "error", type: code, text }
                    : { element: "failure", type: "did not hold", text };
            return { name: `check ${name}`, durationMs, problem: held ? undefined : problem };
        }),
        ...(run.notUndone === undefined
            ? []
            : [{ name: "undo", durationMs: 0, problem: problemOfUndo(run.notUndone) }]),
    ];
}

function problemOfVerdict(run: ReportedRun): Problem | undefined {
    const [result, code, reason] = [resultOf(run), codeOf(run), reasonOf(run)];
    if (result === "PASSED") return undefined;
    const text = code === undefined ? reason : verdictLine({ verdict: result, code, reason });
    return { element: result === "FAILED" ? "failure" : "error", type: code ?? result, text };
}

function testCase({ name, durationMs, problem }: TestCase, classname: string): string {
    const attributes = { name, classname, time: seconds(durationMs) };
    if (problem === undefined) return element("testcase", attributes);
    const { element: kind, type, text } = problem;
    const message = text.replace(/\s+/g, " ").trim().slice(0, messageLength);
    // GitLab shows the contents, and GitHub's actions mostly the message.
    return element("testcase", attributes, [element(kind, { type, message }, [escape(text)])]);
}

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(3);
