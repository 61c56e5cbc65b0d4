import { verdictLine } from "../../values/reasons";
import { element, escape, inLines } from "../markup";
import { checksOf, codeOf, named, pageOf, reasonOf, type ReportedRun, resultOf } from "../reported-run";

/** The first part of the names of classes, which Jenkins shows as a package. */
const packageName = "chaos";
/** Longest attribute `message`. The whole text is the element's contents. */
const messageLength = 500;

interface TestCase {
    name: string;
    durationMs: number;
    problem?: Problem;
}

interface Problem {
    /** `failure`: something did not hold. `error`: nothing was shown. */
    element: "failure" | "error";
    /** The code of the reason, or what did not hold. */
    type: string;
    text: string;
}

/**
 * Runs as a JUnit XML file: a suite for each run, and in it a test case for the verdict and one for each check. A run
 * that shows nothing is an error, and not skipped: readers of these files count skipped tests as good.
 *
 * The file follows both published schemas, that of Jenkins (junit-10.xsd) and that of Apache Ant (JUnit.xsd). The
 * latter wants some attributes and elements that have no meaning here.
 */
export function junitXml(runs: readonly ReportedRun[]): string {
    const suites = named(runs).map((run, id) => suite(run, run.name, id));
    return `<?xml version="1.0" encoding="UTF-8"?>\n${inLines("testsuites", {}, suites)}\n`;
}

function suite(run: ReportedRun, name: string, id: number): string {
    const cases = casesOf(run);
    const count = (kind: Problem["element"]) => cases.filter(({ problem }) => problem?.element === kind).length;
    const attributes = {
        id,
        name,
        package: packageName,
        // In UTC: the schema allows no time zone.
        timestamp: new Date(run.startedAt).toISOString().slice(0, 19),
        hostname: "localhost",
        tests: cases.length,
        failures: count("failure"),
        errors: count("error"),
        skipped: 0,
        time: seconds(run.durationMs),
    };
    return inLines("testsuite", attributes, [
        inLines("properties", {}, propertiesOf(run)),
        ...cases.map((one) => testCase(one, `${packageName}.${name}`)),
        element("system-out", {}),
        element("system-err", {}),
    ]);
}

function propertiesOf(run: ReportedRun): string[] {
    const { conclusion } = run.journal ?? {};
    if (conclusion === undefined) return [];
    const properties = {
        hypothesis: conclusion.hypothesis,
        attack: conclusion.attack,
        targets: conclusion.targets.join(", "),
        run: conclusion.run,
        verdict: conclusion.verdict,
        journal: run.path ?? conclusion.journal,
        page: pageOf(run) ?? "",
    };
    return Object.entries(properties).map(([name, value]) => element("property", { name, value }));
}

function casesOf(run: ReportedRun): TestCase[] {
    const verdict = { name: "verdict", durationMs: run.durationMs, problem: problemOfVerdict(run) };
    const checks = run.journal === undefined ? [] : checksOf(run.journal);
    const notUndone: Problem = { element: "error", type: "not undone", text: run.notUndone ?? "" };
    const undo = run.notUndone === undefined ? [] : [{ name: "undo", durationMs: 0, problem: notUndone }];
    return [
        verdict,
        ...checks.map(({ name, held, code, reason, durationMs }): TestCase => {
            const element = held === undefined ? "error" : "failure";
            const type = held === undefined ? (code ?? "unknown") : "did not hold";
            const problem: Problem = { element, type, text: reason };
            return { name: `check ${name}`, durationMs, problem: held ? undefined : problem };
        }),
        ...undo,
    ];
}

function problemOfVerdict(run: ReportedRun): Problem | undefined {
    const result = resultOf(run);
    if (result === "PASSED") return undefined;
    const [code, reason] = [codeOf(run), reasonOf(run)];
    return {
        element: result === "FAILED" ? "failure" : "error",
        type: code ?? result,
        text: code === undefined ? reason : verdictLine({ verdict: result, code, reason }),
    };
}

function testCase({ name, durationMs, problem }: TestCase, classname: string): string {
    const message = problem?.text.replace(/\s+/g, " ").trim().slice(0, messageLength);
    return element(
        "testcase",
        { name, classname, time: seconds(durationMs) },
        // GitLab shows the contents, GitHub's actions mostly the message.
        problem && [element(problem.element, { type: problem.type, message: message! }, [escape(problem.text)])],
    );
}

const seconds = (milliseconds: number) => (milliseconds / 1_000).toFixed(3);
