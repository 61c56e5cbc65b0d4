import { savedExperiments } from "../experiments/saved";
import { exitCodeOf, failed, interrupted } from "../chaos/cli/outcomes";
import { plainError } from "../chaos/cli/plain-error";
import { exitCodeOfDecision, runSeries, seriesEnd } from "../chaos/cli/series";
import { runningExperiments } from "../chaos/lease/running";
import { clusterOf } from "./cluster";
import { printList } from "./experiment-list";
import { type ExperimentOptions, experimentOptions, type RunOptions } from "./experiment-options";
import { exitCodeOfAll, notRun, runInTurn, standIn, verdictTable, writeReports } from "./experiment-outcomes";
import { ExperimentRuns, type Outcome } from "./experiment-runs";
import { LiveWindow } from "./live-window";
import { say } from "./print";
import { experimentProgram } from "./programs";
import { placeOfStack } from "./stack-file";
import { describeStatus } from "./status";

async function main(options: ExperimentOptions): Promise<void> {
    if ("list" in options) return printList(options.list, say);
    if ("statusOf" in options) return showStatus(options.statusOf);
    process.exitCode = await run(options);
}

async function showStatus(stack: string): Promise<void> {
    const place = placeOfStack(stack);
    const cluster = await clusterOf(place, stack);
    const found = await runningExperiments(cluster, place.namespace);
    say(describeStatus(found, { ...place, context: cluster.kubeconfig.getCurrentContext() }));
}

/** Runs what the options ask for, and reports it, also if a run fails. @returns the exit code */
async function run(options: RunOptions): Promise<number> {
    const { all, repeat, lessons, name, settings, stack, json, files } = options;
    const areSeveral = all || repeat !== undefined;
    // With --json, standard output contains only the journal.
    const window = new LiveWindow(json ? process.stderr : process.stdout);
    const outcomes: Outcome[] = [];
    let runs: ExperimentRuns | undefined;
    let failure: Error | undefined;
    try {
        runs = await ExperimentRuns.open(stack, window);
        if (repeat) {
            const changes = { ...settings, ...(name && { "experiment.name": name }) };
            const mistakes = await runs.tellMistakes(changes);
            if (mistakes !== undefined) outcomes.push(notRun(name, mistakes));
            else await runSeries(await runs.repeatable(changes), repeat, outcomes, window.print);
        } else await runInTurn(runs, all ? runs.fitting(lessons, settings.variant) : [name], settings, outcomes);
    } catch (error) {
        failure = error as Error;
        outcomes.push(notRun(name ?? (all ? "all experiments" : standIn), plainError(error)));
    } finally {
        runs?.close();
    }
    const isReported = writeReports(files, outcomes, window.print);
    if (failure) throw failure;
    if (areSeveral) window.print(verdictTable(outcomes));
    if (repeat) for (const line of ["", ...seriesEnd(outcomes, repeat)]) window.print(line);
    if (json) printJson(areSeveral ? outcomes.flatMap(({ journal }) => journal ?? []) : outcomes[0]?.journal);
    const notUndone = outcomes.find((outcome) => outcome.notUndone)?.notUndone;
    if (notUndone) throw new Error(notUndone);
    if (runs?.interrupted) {
        if (options.continuation) window.print(`To go on with the series: ${options.continuation}`);
        return interrupted;
    }
    return Math.max(exitCodeFor(outcomes, options), isReported ? 0 : failed);
}

function exitCodeFor(outcomes: readonly Outcome[], { all, repeat }: RunOptions): number {
    if (repeat?.until !== undefined) return exitCodeOfDecision(outcomes, repeat.until);
    return all || repeat ? exitCodeOfAll(outcomes) : exitCodeOf(outcomes[0]!);
}

function printJson(value: unknown): void {
    if (value !== undefined) process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

const savedNames = () => savedExperiments().map(({ name }) => name);
const optionsIn = (args: string[]) => experimentOptions(args, savedNames);

// 2 is FAILED.
experimentProgram.run(optionsIn, main, { wrongArgument: failed });
