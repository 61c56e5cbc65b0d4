/**
 * `npm test`: everything that this machine can test, one kind after the other, and plainly what it cannot and why.
 * Ends with one line that counts: `N passed, N failed, N skipped`.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sandboxDown } from "../sandbox/node/down";
import { sandboxUp } from "../sandbox/node/up";
import { unsuitableBecause } from "../sandbox/parts/host";

interface Counts {
    passed: number;
    failed: number;
    skipped: number;
}

const project = join(__dirname, "..");
const reports = join(project, "reports", "tests");
const bin = (name: string) => join(project, "node_modules", ".bin", name);

async function main(): Promise<void> {
    rmSync(reports, { recursive: true, force: true });
    mkdirSync(reports, { recursive: true });
    const counts: Counts[] = [typecheck(), run("unit"), run("services")];
    const unsuitable = unsuitableBecause();
    if (unsuitable === undefined) counts.push(...(await onSandbox(() => [run("e2e"), run("e2e-alone")])));
    else console.log(`\nSkipped: the end-to-end tests, which need the sandbox. ${unsuitable}`);

    const total = (kind: keyof Counts) => counts.reduce((sum, count) => sum + count[kind], 0);
    console.log(`\n${total("passed")} passed, ${total("failed")} failed, ${total("skipped")} skipped`);
    process.exitCode = total("failed") === 0 ? 0 : 1;
}

function typecheck(): Counts {
    console.log("\n── types ──");
    const ok = spawnSync(bin("tsc"), ["--noEmit"], { cwd: project, stdio: "inherit" }).status === 0;
    console.log(ok ? "no mistakes" : "mistakes, above");
    return { passed: ok ? 1 : 0, failed: ok ? 0 : 1, skipped: 0 };
}

/** One of vitest's projects. A run that ends without a report counts as one failure. */
function run(kind: string): Counts {
    console.log(`\n── ${kind} ──`);
    const report = join(reports, `${kind}.json`);
    const { status } = spawnSync(bin("vitest"), ["run", "--project", kind, "--reporter=verbose", "--reporter=json", `--outputFile.json=${report}`], {
        cwd: project,
        stdio: "inherit",
    });
    try {
        const { numPassedTests, numFailedTests, numPendingTests, numFailedTestSuites } = JSON.parse(readFileSync(report, "utf8"));
        const failed = numFailedTests > 0 ? numFailedTests : status === 0 ? 0 : Math.max(1, numFailedTestSuites);
        return { passed: numPassedTests, failed, skipped: numPendingTests };
    } catch {
        return { passed: 0, failed: 1, skipped: 0 };
    }
}

/** Brings the sandbox up for the tests, and down again where it was down before. */
async function onSandbox(tests: () => Counts[]): Promise<Counts[]> {
    console.log("\n── sandbox ──");
    let wasUp: boolean;
    try {
        ({ wasUp } = await sandboxUp());
    } catch (error) {
        console.error((error as Error).message);
        return [{ passed: 0, failed: 1, skipped: 0 }];
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
