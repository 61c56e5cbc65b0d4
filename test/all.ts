/**
 * `npm test`: everything that this machine can test, one kind after the other, and plainly what it cannot and why.
 * Ends with what failed, told once more, and one line that counts: `N passed, N failed, N skipped`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { sandboxDown } from "../sandbox/node/down";
import { sandboxUp } from "../sandbox/node/up";
import { unsuitableBecause } from "../sandbox/parts/host";

interface Outcome {
    passed: number;
    skipped: number;
    /** What failed and why, a text each. */
    failures: string[];
}

/** What this reads of vitest's JSON report. */
interface Report {
    numPassedTests: number;
    numPendingTests: number;
    testResults: {
        name: string;
        status: string;
        message: string;
        assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
    }[];
}

const project = join(__dirname, "..");
const reports = join(project, "reports", "tests");
const bin = (name: string) => join(project, "node_modules", ".bin", name);

async function main(): Promise<void> {
    rmSync(reports, { recursive: true, force: true });
    mkdirSync(reports, { recursive: true });
    const outcomes = [typecheck(), run("unit"), run("services")];
    const unsuitable = unsuitableBecause();
    if (unsuitable === undefined) outcomes.push(...(await onSandbox(() => [run("e2e"), run("e2e-alone")])));
    else console.log(`\nSkipped: the end-to-end tests, which need the sandbox. ${unsuitable}`);

    const failures = outcomes.flatMap((outcome) => outcome.failures);
    if (failures.length > 0) console.log(["\n── what failed ──", ...failures].join("\n\n"));
    const total = (kind: "passed" | "skipped") => outcomes.reduce((sum, outcome) => sum + outcome[kind], 0);
    console.log(`\n${total("passed")} passed, ${failures.length} failed, ${total("skipped")} skipped`);
    process.exitCode = failures.length === 0 ? 0 : 1;
}

function typecheck(): Outcome {
    console.log("\n── types ──");
    const ok = spawnSync(bin("tsc"), ["--noEmit"], { cwd: project, stdio: "inherit" }).status === 0;
    console.log(ok ? "no mistakes" : "mistakes, above");
    return ok
        ? { passed: 1, skipped: 0, failures: [] }
        : failed("types: tsc --noEmit found mistakes, which it shows above");
}

/** One of vitest's projects. */
function run(kind: string): Outcome {
    console.log(`\n── ${kind} ──`);
    const path = join(reports, `${kind}.json`);
    const { status } = spawnSync(
        bin("vitest"),
        ["run", "--project", kind, "--reporter=verbose", "--reporter=json", `--outputFile.json=${path}`],
        {
            cwd: project,
            stdio: "inherit",
        },
    );
    let report: Report;
    try {
        report = JSON.parse(readFileSync(path, "utf8"));
    } catch {
        return failed(`${kind}: vitest ended without a report (exit status ${status})`);
    }
    const failures = report.testResults.flatMap((file) => failuresOf(kind, file));
    if (failures.length === 0 && status !== 0)
        failures.push(`${kind}: no test failed, but vitest ended with exit status ${status}`);
    return { passed: report.numPassedTests, skipped: report.numPendingTests, failures };
}

/** The failed tests of a file, or the file where it failed outside of them. */
function failuresOf(kind: string, file: Report["testResults"][number]): string[] {
    const name = `${kind}: ${relative(project, file.name)}`;
    const tests = file.assertionResults.filter((test) => test.status === "failed");
    // Vitest tells why a file could not be loaded, but nothing of a hook that failed.
    if (tests.length === 0 && file.status === "failed")
        return [`${name}\n${file.message || "a hook failed, as vitest shows above"}`];
    return tests.map((test) => [`${name} > ${test.fullName}`, ...test.failureMessages].join("\n"));
}

function failed(why: string): Outcome {
    return { passed: 0, skipped: 0, failures: [why] };
}

/** Brings the sandbox up for the tests, and down again where it was down before. */
async function onSandbox(tests: () => Outcome[]): Promise<Outcome[]> {
    console.log("\n── sandbox ──");
    let wasUp: boolean;
    try {
        ({ wasUp } = await sandboxUp());
    } catch (error) {
        return [failed(`sandbox: it did not come up. ${(error as Error).message}`)];
    }
    console.log(wasUp ? "was up already" : "is up");
    try {
        return tests();
    } finally {
        if (!wasUp) await sandboxDown();
    }
}

main().catch((error: unknown) => {
    console.error(error);
    console.log("\n0 passed, 1 failed");
    process.exitCode = 1;
});
