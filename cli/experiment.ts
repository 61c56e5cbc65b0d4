import { savedExperiments } from "../experiments/saved";
import { runningExperiments } from "../chaos/lifecycle/running";
import { clusterOf } from "./cluster";
import { printList } from "./experiment-list";
import { type ExperimentOptions, experimentOptions, type RunOptions } from "./experiment-options";
import {
    exitCodeOf,
    exitCodeOfAll,
    failed,
    notRun,
    runInTurn,
    standIn,
    verdictTable,
    writeReports,
} from "./experiment-outcomes";
import { ExperimentRuns, type Outcome } from "./experiment-runs";
import { LiveWindow } from "./live-window";
import { plainError, say } from "./print";
import { experimentProgram } from "./programs";
import { placeOfStack } from "./stack-file";
import { describeStatus } from "./status";

const interrupted = 130;

async function main(options: ExperimentOptions): Promise<void> {
    if ("list" in options) return printList(options.list, say);
    if ("statusOf" in options) return showStatus(options.statusOf);
    process.exitCode = await run(options);
}

async function showStatus(stack: string): Promise<void> {
    const place = placeOfStack(stack);
    const cluster = await clusterOf(place);
    const found = await runningExperiments(cluster, place.namespace);
    say(describeStatus(found, { ...place, context: cluster.kubeconfig.getCurrentContext() }));
}

async function run(options: RunOptions): Promise<number> {
    const { all, json, files } = options;
    // With --json, standard output contains only the journal.
    const window = new LiveWindow(json ? process.stderr : process.stdout);
    const { outcomes, wasInterrupted, failure } = await runAll(options, window);
    const isReported = writeReports(files, outcomes, window.print);
    if (failure) throw failure;
    if (all) window.print(verdictTable(outcomes));
    if (json) printJson(all ? outcomes.flatMap(({ journal }) => journal ?? []) : outcomes[0]?.journal);
    const notUndone = outcomes.find((outcome) => outcome.notUndone)?.notUndone;
    if (notUndone) throw notUndone;
    if (wasInterrupted) return interrupted;
    return Math.max(all ? exitCodeOfAll(outcomes) : exitCodeOf(outcomes[0]!), isReported ? 0 : failed);
}

interface Ran {
    outcomes: Outcome[];
    wasInterrupted: boolean;
    /** Why no run could be begun. */
    failure?: Error;
}

/** Runs what the options ask for. Whatever happens, there is an outcome for each experiment. */
async function runAll({ all, lessons, name, settings, stack }: RunOptions, window: LiveWindow): Promise<Ran> {
    const outcomes: Outcome[] = [];
    let runs: ExperimentRuns | undefined;
    try {
        runs = await ExperimentRuns.open(stack, window);
        await runInTurn(runs, all ? runs.fitting(lessons, settings.variant) : [name], settings, outcomes);
        return { outcomes, wasInterrupted: runs.interrupted };
    } catch (error) {
        const experiment = name ?? (all ? "all experiments" : standIn);
        const outcome = notRun(experiment, plainError(error));
        return { outcomes: [...outcomes, outcome], wasInterrupted: false, failure: error as Error };
    } finally {
        runs?.close();
    }
}

function printJson(value: unknown): void {
    if (value !== undefined) process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

const savedNames = () => savedExperiments().map(({ name }) => name);
const optionsIn = (args: string[]) => experimentOptions(args, savedNames);

// 2 is FAILED.
experimentProgram.run(optionsIn, main, { wrongArgument: failed });
