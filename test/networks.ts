/**
 * `npm run test:networks`: the tests that depend on the network, on each network that the sandbox can have. Which tests
 * these are is in vitest.config.mts. Afterwards, the sandbox has the network that it had before.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { project } from "../cli/stack-file";
import { choices } from "../sandbox/node/choices";
import { sandboxDown } from "../sandbox/node/down";
import { sandboxStatus } from "../sandbox/node/status";
import { requireSandboxHost, sandboxUp } from "../sandbox/node/up";
import { nameOf, networksProgram, type NetworksOptions, readOptions, type Step, stepsOf } from "./networks/options";
import { readKept, type Result, tableOf, treeOf, writeKept } from "./networks/results";
import { argumentsFor, failed, type Outcome, outcomeOf, vitest } from "./outcome";
import { commitOf } from "./trials/results";

const file = join(project, "reports", "test-networks.json");
const reports = join(project, "reports", "networks");

let interrupted: NodeJS.Signals | undefined;
let running: ChildProcess | undefined;

async function main(options: NetworksOptions): Promise<void> {
    const { again, files } = options;
    requireSandboxHost();
    const [commit, tree] = [commitOf(project), treeOf(project)];
    const steps = stepsOf(options);
    const chosen = steps.map(({ name }) => name);
    const kept = readKept(file);
    const isOfNow = (result: Result) => result.tree === tree && tree !== "unknown";
    if (files.length === 0)
        kept.results = kept.results.filter((result) => isOfNow(result) && !(again && chosen.includes(result.step)));
    const isDone = ({ name }: Step) =>
        files.length === 0 && kept.results.some(({ step, failures }) => step === name && failures.length === 0);
    const todo = steps.filter((step) => !isDone(step));
    console.log(`${todo.length} of ${steps.length} steps to do, commit ${commit}.`);
    const partial: Result[] = [];
    if (todo.length > 0) {
        const wasDown = (await sandboxStatus()).state === "down";
        // A killed run has not put it back.
        kept.before ??= choices();
        writeKept(file, kept);
        try {
            await runAll(todo, (result) => {
                if (files.length > 0) return void partial.push({ ...result, commit, tree });
                // With a file that changed meanwhile, it is unknown what was tested.
                const tested = treeOf(project) === tree ? tree : "unknown";
                kept.results = kept.results.filter(({ step }) => step !== result.step);
                kept.results.push({ ...result, commit, tree: tested });
                writeKept(file, kept);
            });
        } finally {
            console.log(`\nThe sandbox goes back to: ${nameOf(kept.before)}`);
            await sandboxUp(kept.before);
            if (wasDown) await sandboxDown();
            delete kept.before;
            writeKept(file, kept);
        }
    }
    const shown = files.length > 0 ? partial : kept.results;
    const results = chosen.flatMap((name) => shown.filter(({ step }) => step === name));
    console.log(`\n${tableOf(results)}`);
    if (interrupted) throw new Error(`${interrupted}: the same command continues with the steps that are left.`);
    if (results.some(({ failures }) => failures.length > 0)) process.exitCode = 1;
}

async function runAll(steps: readonly Step[], keep: (result: Omit<Result, "commit" | "tree">) => void): Promise<void> {
    rmSync(reports, { recursive: true, force: true });
    mkdirSync(reports, { recursive: true });
    const begun = Date.now();
    const minutesSince = (ms: number) => Math.round((Date.now() - ms) / 6_000) / 10;
    for (const [index, step] of steps.entries()) {
        const { name } = step;
        console.log(`\n── ${name} (${index + 1} of ${steps.length}; ${minutesSince(begun)} min so far) ──`);
        const started = Date.now();
        const { passed, skipped, failures } = await runStep(step);
        // What was interrupted is no result.
        if (interrupted) return;
        const minutes = minutesSince(started);
        console.log(`\n${name}: ${passed} passed, ${failures.length} failed, ${minutes} min`);
        keep({ step: name, passed, skipped, failures, minutes, at: new Date().toISOString() });
    }
}

async function runStep({ name, choices, projects, files }: Step): Promise<Outcome> {
    try {
        await sandboxUp(choices);
    } catch (error) {
        return failed(`the sandbox cannot be started: ${(error as Error).message}`);
    }
    if (interrupted) return failed("interrupted");
    const report = join(reports, `${name.replaceAll(/\W+/g, "-")}.json`);
    const args = [...argumentsFor(projects, report), ...files];
    running = spawn(vitest, args, { cwd: project, stdio: "inherit" });
    const [status] = (await once(running, "exit")) as [number | null];
    running = undefined;
    return outcomeOf(name, report, status);
}

const inTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    process.on(signal, () => {
        console.error(`\n${signal}: ending the tests, and putting the network back; please wait.`);
        interrupted = signal;
        // A terminal tells vitest, too.
        if (signal === "SIGTERM" || !inTerminal) running?.kill("SIGINT");
    });

networksProgram.run(readOptions, main);
