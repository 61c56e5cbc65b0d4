/** `npm run trials`: complete experiments on the sandbox, disturbed in many ways, and their verdicts compared. */
import { join } from "node:path";
import { project } from "../../cli/stack-file";
import { reportsFolder } from "../../experiments/reports-folder";
import type { Kind } from "./kind";
import { kinds } from "./kinds";
import { describeNeeds, describePlace, lackOf } from "./place";
import { readOptions, type TrialOptions, trialsProgram } from "./options";
import { comparePeers, type PeerOptions } from "./peers/compare";
import { questions } from "./peers/questions";
import { appendResult, commitOf, isRight, keyOf, readResults, type Result } from "./results";
import { type Planned, schedule } from "./schedule";
import { describeResult, markdownTable, textTable } from "./table";
import { Trials } from "./trials";
import { gatewayOf } from "../../components/shop/gateway";
import { TestStack } from "../e2e/shop/support";
import { appendCompared, compareOnce, describeAlarms, readCompared } from "./a-a";

const file = join(project, reportsFolder, "trials.jsonl");
const names = kinds.map(({ name }) => name);

async function main(options: TrialOptions): Promise<void> {
    if (options.peer) return beside(options, options.peer);
    const chosen = kinds.filter(({ name }) => options.kinds.includes(name));
    const { place } = options;
    const ofSeed = () => readResults(file).filter(({ seed, kind }) => seed === options.seed && names.includes(kind));
    if (options.does === "list") {
        for (const { name, meaning, needs } of kinds)
            console.log(`${name.padEnd(25)}${meaning}${needs ? ` (needs ${describeNeeds(needs)})` : ""}`);
        return;
    }
    if (options.does === "a-a") return compareAgain(options.rounds);
    if (options.does === "markdown") return console.log(markdownTable(ofSeed()));
    const commit = commitOf(project);
    const isOurs = (result: Result) =>
        result.commit === commit &&
        describePlace(result) === describePlace(place) &&
        options.kinds.includes(result.kind) &&
        options.denied.includes(result.denied);
    const done = ofSeed().filter(isOurs);
    const [possible, others] = [true, false].map((is) =>
        chosen.filter(({ needs }) => (lackOf(needs, place) === "") === is),
    ) as [Kind[], Kind[]];
    for (const { name, needs } of others)
        console.log(`${name} is left out on ${describePlace(place)}: it needs ${lackOf(needs, place)}.`);
    const todo = schedule(possible, place, options.denied, options.rounds, new Set(done.map(keyOf)));
    const about = `on ${describePlace(place)}, seed ${options.seed}, commit ${commit}`;
    console.log(`${todo.length} trials ${about}; ${done.length} were done before.`);
    if (todo.length > 0) await doAll(todo, options, commit);
    const results = ofSeed().filter(isOurs);
    console.log(`\n${textTable(results)}`);
    if (!results.every(isRight)) process.exitCode = 1;
}

async function beside({ does, kinds }: TrialOptions, peer: PeerOptions): Promise<void> {
    // Exits even if an interrupted question is still asked.
    if (does === "run") return comparePeers(kinds, peer).finally(() => setImmediate(() => process.exit()));
    for (const { name, trouble } of questions) console.log(`${name.padEnd(25)}${trouble}`);
}

async function doAll(todo: readonly Planned[], options: TrialOptions, commit: string): Promise<void> {
    const { seed, place, parallel } = options;
    const interruption = interruptible();
    const { signal } = interruption;
    const { denied } = todo[0]!;
    const trials = await Trials.open({ seed, place, denied, stacks: parallel, interruption });
    const workThrough = async (queue: Planned[], worker: number) => {
        for (let next = queue.shift(); next && !signal.aborted; next = queue.shift()) {
            const result = { ...(await trials.run(next, worker)), commit };
            // What was interrupted is no result.
            if (signal.aborted) return;
            appendResult(file, result);
            console.log(describeResult(result));
        }
    };
    try {
        for (const denied of new Set(todo.map((trial) => trial.denied))) {
            if (signal.aborted) break;
            await trials.setDenied(denied);
            const here = todo.filter((trial) => trial.denied === denied);
            const together = here.filter(({ kind }) => !kind.alone);
            await Promise.all(Array.from({ length: parallel }, (_, worker) => workThrough(together, worker)));
            await workThrough(
                here.filter(({ kind }) => kind.alone),
                0,
            );
        }
    } finally {
        await trials.close();
    }
    if (signal.aborted) throw new Error("Interrupted: everything is put back. The same command continues.");
}

/** Does runs without an attack, until there are as many of this commit. */
async function compareAgain(rounds: number): Promise<void> {
    const file = join(project, reportsFolder, "a-a.jsonl");
    const commit = commitOf(project);
    const done = () => readCompared(file, commit);
    console.log(`${Math.max(0, rounds - done().length)} runs of commit ${commit}; ${done().length} were done before.`);
    if (done().length < rounds) {
        const { signal } = interruptible();
        const stack = await TestStack.open("trials-a-a");
        try {
            await stack.up({ "gateway.serviceType": "LoadBalancer" });
            for (let run = done().length + 1; run <= rounds && !signal.aborted; run++)
                appendCompared(file, {
                    commit,
                    ...(await compareOnce(stack.cluster, gatewayOf(stack.namespace), run)),
                });
        } finally {
            await stack.close();
        }
    }
    console.log(describeAlarms(done()));
}

/** Ends the trials at SIGINT, SIGTERM and SIGHUP: the running one is undone, and everything put back. */
function interruptible() {
    const interrupted = new AbortController();
    const cancel = new AbortController();
    const inTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
    // Ctrl-C may end the reader of a pipe first, and a terminal may be gone.
    for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
        process.on(signal, () => {
            console.error(`\n${signal}: undoing the running trial, and putting everything back; please wait.`);
            interrupted.abort();
            // A terminal tells the engine, too: at a second signal it would exit at once.
            if (signal === "SIGTERM" || !inTerminal) cancel.abort();
        });
    return { signal: interrupted.signal, cancel: cancel.signal };
}

const questionNames = questions.map(({ name }) => name);

trialsProgram.run((args) => readOptions(args, names, questionNames), main);
