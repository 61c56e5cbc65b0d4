import { savedExperiments } from "../experiments/saved";
import { runningExperiments } from "../chaos/lifecycle/running";
import { clusterOf } from "./cluster";
import { printList } from "./experiment-list";
import { experimentOptions, type RunOptions } from "./experiment-options";
import { writeReports } from "./experiment-reports";
import { ExperimentRuns, type Outcome } from "./experiment-runs";
import { notRun, runInTurn, standIn } from "./experiment-turns";
import { LiveWindow } from "./live-window";
import { plainError, say } from "./session";
import { placeOfStack } from "./stack-file";
import { describeStatus } from "./status";
import { exitCodeOf, exitCodeOfAll, failed, verdictTable } from "./verdict-table";

const interrupted = 130;

const help = `Usage: npm run experiment -- [NAME] [OPTIONS]

Runs an experiment as stack updates: enables it, shows the checks, reports the verdict and undoes everything. Installs
the shop if necessary. Does not change the stack's file.

  NAME               A saved experiment. Default: the stack's experiment.name, otherwise hot-deals-blackhole
  --all              Run every saved experiment for the stack's variant, and print a table of verdicts, each compared
                     with the expected one
  --list             List the saved experiments by lesson: hypothesis, expected verdict, and remedy
  --lesson LESSON    With --all or --list: only this lesson, such as gone. Can be repeated
  --status           Show what is attacked now, by whom, until when, and how to end it. Changes nothing
  --set KEY=VALUE    A setting for this run, such as --set experiment.radius=50%. Can be repeated
  --stack NAME       The stack. Default: local
  --json             Print only the run's journal on standard output, with --all an array of journals, with --list an
                     array of experiments.
                     To silence npm: npm run -s experiment -- --json
  --junit FILE       Write a JUnit XML file at the end, with --all of all runs; also if a run fails
  --summary FILE     Write a Markdown summary at the end, for a comment or a job's summary
  --help             Show this text

Ctrl-C ends the attack and waits until the shop has recovered.

Exit codes: 0 PASSED, 2 FAILED, 3 INCONCLUSIVE, 4 ABORTED, 1 the run failed or wrong argument, 130 interrupted.
With --all, 0 if all runs ended as expected, otherwise the highest of those that did not, 2 for an unexpected PASSED.
With --status, 0 whether or not an experiment runs.`;

async function main(): Promise<void> {
    const names = () => savedExperiments().map(({ name }) => name);
    const options = experimentOptions(process.argv.slice(2), names);
    if (options === "help") return say(help);
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

main().catch((error: unknown) => {
    console.error(plainError(error));
    process.exitCode = failed;
});
