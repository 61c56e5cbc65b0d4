import { readFileSync } from "node:fs";
import { join, relative } from "node:path";

/** What became of some checks or tests. */
export interface Outcome {
    passed: number;
    skipped: number;
    /** One text each: what failed, and why. */
    failures: string[];
    /** How long each file took. @default none */
    files?: { name: string; seconds: number }[];
}

/** The part of vitest's JSON report that is read here. */
interface Report {
    numPassedTests: number;
    numPendingTests: number;
    testResults: {
        name: string;
        status: string;
        message: string;
        startTime: number;
        endTime: number;
        assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
    }[];
}

const project = join(__dirname, "..");

export const vitest = join(project, "node_modules", ".bin", "vitest");

/** The arguments with which vitest runs some of its projects, and writes the report that {@link outcomeOf} reads. */
export const argumentsFor = (projects: readonly string[], report: string): string[] => [
    "run",
    ...projects.flatMap((name) => ["--project", name]),
    ...["--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`],
];

/** @param kind begins the names of failures and files. @param status vitest's exit status */
export function outcomeOf(kind: string, path: string, status: number | null): Outcome {
    let report: Report;
    try {
        report = JSON.parse(readFileSync(path, "utf8"));
    } catch {
        return failed(`${kind}: vitest ended without a report (exit status ${status})`);
    }
    const failures = report.testResults.flatMap((file) => failuresOf(kind, file));
    if (failures.length === 0 && status !== 0)
        failures.push(`${kind}: no test failed, but vitest ended with exit status ${status}`);
    const files = report.testResults.map(({ name, startTime, endTime }) => ({
        name: `${kind}: ${relative(project, name)}`,
        seconds: (endTime - startTime) / 1_000,
    }));
    return { passed: report.numPassedTests, skipped: report.numPendingTests, failures, files };
}

/** The failed tests of a file, or the file itself if it failed outside a test. */
function failuresOf(kind: string, file: Report["testResults"][number]): string[] {
    const name = `${kind}: ${relative(project, file.name)}`;
    const tests = file.assertionResults.filter((test) => test.status === "failed");
    // The report explains a file that cannot be loaded, but not a hook that fails.
    if (tests.length === 0 && file.status === "failed")
        return [`${name}\n${file.message || "a hook failed: see vitest's output above"}`];
    return tests.map((test) => [`${name} > ${test.fullName}`, ...test.failureMessages].join("\n"));
}

export function failed(why: string): Outcome {
    return { passed: 0, skipped: 0, failures: [why] };
}
