/**
 * `npm test`: the checks and the unit tests, and if they pass, the other tests that this machine can run. Says which it
 * cannot run, and why. Ends with a list of the failures, the ten slowest files, and one line of totals:
 * `N passed, N failed, N skipped`.
 *
 * `npm run test:all` (`--all`) runs every end-to-end test with all its cases, and those for a network that rejects.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { sandboxDown } from "../sandbox/node/down";
import { sandboxUp } from "../sandbox/node/up";
import { unsuitableBecause } from "../toolchain/parts/host";
import { runChecks } from "./check";
import { argumentsFor, failed, type Outcome, outcomeOf, vitest } from "./outcome";

const project = join(__dirname, "..");
const reports = join(project, "reports", "tests");
const all = process.argv.includes("--all");

async function main(): Promise<void> {
    const begun = Date.now();
    rmSync(reports, { recursive: true, force: true });
    mkdirSync(reports, { recursive: true });
    const outcomes = [await checks(), run("unit")];
    if (outcomes.some(({ failures }) => failures.length > 0))
        console.log("\nNot run: the other tests, since checks or unit tests failed.");
    else {
        outcomes.push(run("services", "services-alone"));
        const unsuitable = unsuitableBecause();
        if (unsuitable === undefined) outcomes.push(...(await onSandbox(endToEnd)));
        else console.log(`\nSkipped: the end-to-end tests, which need the sandbox. ${unsuitable}`);
    }

    const failures = outcomes.flatMap((outcome) => outcome.failures);
    if (failures.length > 0) console.log(["\n── failures ──", ...failures].join("\n\n"));
    printSlowest(outcomes.flatMap(({ files = [] }) => files));
    const total = (kind: "passed" | "skipped") => outcomes.reduce((sum, outcome) => sum + outcome[kind], 0);
    console.log(`\nTook ${((Date.now() - begun) / 60_000).toFixed(1)} min`);
    console.log(`${total("passed")} passed, ${failures.length} failed, ${total("skipped")} skipped`);
    process.exitCode = failures.length === 0 ? 0 : 1;
}

function endToEnd(): Outcome[] {
    return [run("e2e", "e2e-alone"), ...(all ? [run("e2e-reject")] : [])];
}

function printSlowest(files: { name: string; seconds: number }[]): void {
    console.log("\n── the ten slowest files ──");
    for (const { name, seconds } of files.sort((a, b) => b.seconds - a.seconds).slice(0, 10))
        console.log(`${seconds.toFixed(0).padStart(5)} s  ${name}`);
}

async function checks(): Promise<Outcome> {
    console.log("\n── checks ──");
    const results = await runChecks();
    const failures = results.filter(({ passed }) => !passed).map(({ name }) => `${name}: see its report above`);
    return { passed: results.length - failures.length, skipped: 0, failures };
}

/** Some of vitest's projects. */
function run(...kinds: string[]): Outcome {
    const [kind] = kinds as [string];
    console.log(`\n── ${kind} ──`);
    const report = join(reports, `${kind}.json`);
    const env = { ...process.env, TEST_ALL: String(all) };
    const { status } = spawnSync(vitest, argumentsFor(kinds, report), { cwd: project, stdio: "inherit", env });
    return outcomeOf(kind, report, status);
}

/** Starts the sandbox for the tests, and stops it again unless it was running before. */
async function onSandbox(tests: () => Outcome[]): Promise<Outcome[]> {
    console.log("\n── sandbox ──");
    let wasUp: boolean;
    try {
        ({ wasUp } = await sandboxUp());
    } catch (error) {
        return [failed(`sandbox: cannot be started: ${(error as Error).message}`)];
    }
    console.log(wasUp ? "was already running" : "started");
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
