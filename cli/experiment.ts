import { parseArgs } from "node:util";
import { savedExperiments } from "../experiments/saved";
import { runningExperiments } from "../chaos/lifecycle/running";
import type { Verdict } from "../chaos/report/verdict";
import { clusterOf } from "./cluster";
import { ExperimentRuns, type Outcome } from "./experiment-runs";
import { LiveWindow } from "./live-window";
import { plainError, say } from "./session";
import { settingsIn } from "./settings-option";
import { placeOfStack } from "./stack-file";
import { describeStatus } from "./status";

/** The program's exit code is the highest of its runs. */
const exitCodes: Record<Verdict, number> = { PASSED: 0, FAILED: 2, INCONCLUSIVE: 3, ABORTED: 4 };
const failed = 1;
const interrupted = 130;
/** Width of a column of experiment names. */
const nameWidth = 28;

const help = `Usage: npm run experiment -- [NAME] [OPTIONS]

Runs an experiment as stack updates: enables it, shows the checks, reports the verdict and undoes everything. Installs
the shop if necessary. Does not change the stack's file.

  NAME               A saved experiment. Default: the stack's experiment.name, otherwise hot-deals-blackhole
  --all              Run every saved experiment for the stack's variant, and print a table of verdicts
  --list             List the saved experiments and their hypotheses
  --status           Show what is attacked now, by whom, until when, and how to end it. Changes nothing
  --set KEY=VALUE    A setting for this run, such as --set experiment.radius=50%. Can be repeated
  --stack NAME       The stack. Default: local
  --json             Print only the run's journal on standard output, with --all an array of journals.
                     To silence npm: npm run -s experiment -- --json
  --help             Show this text

Ctrl-C ends the attack and waits until the shop has recovered.

Exit codes: 0 PASSED, 2 FAILED, 3 INCONCLUSIVE, 4 ABORTED, 1 the run failed or wrong argument, 130 interrupted.
With --all, the highest of the runs. With --status, 0 whether or not an experiment runs.`;

interface Options {
    /** Every saved experiment that runs on the shop's variant, instead of one. */
    all: boolean;
    /** @default the experiment that the stack's file names */
    name?: string;
    settings: Record<string, string>;
    stack: string;
    json: boolean;
}

async function main(): Promise<void> {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: {
            all: { type: "boolean", default: false },
            list: { type: "boolean", default: false },
            status: { type: "boolean", default: false },
            set: { type: "string", multiple: true, default: [] },
            stack: { type: "string", default: "local" },
            json: { type: "boolean", default: false },
            help: { type: "boolean", short: "h", default: false },
        },
    });
    if (values.help) return say(help);
    const name = nameIn(positionals);
    const forAll = (["status", "list", "all"] as const).find((option) => values[option]);
    if (name !== undefined && forAll) throw new Error(`--${forAll} applies to all experiments: omit ${name}`);
    if (values.status) return showStatus(values.stack);
    if (values.list) return list();
    const { all, stack, json } = values;
    process.exitCode = await run({ all, name, settings: settingsIn(values.set), stack, json });
}

async function showStatus(stack: string): Promise<void> {
    const place = placeOfStack(stack);
    const cluster = await clusterOf(place);
    const found = await runningExperiments(cluster, place.namespace);
    say(describeStatus(found, { ...place, context: cluster.kubeconfig.getCurrentContext() }));
}

function list(): void {
    for (const { name, hypothesis, variant } of savedExperiments())
        say(`${name.padEnd(nameWidth)} ${hypothesis}${variant ? ` (variant ${variant})` : ""}`);
}

function nameIn([name, ...more]: string[]): string | undefined {
    const names = savedExperiments().map((saved) => saved.name);
    if (more.length > 0) throw new Error("name one experiment, or run all of them: npm run experiment -- --all");
    if (name !== undefined && !names.includes(name))
        throw new Error(`there is no saved experiment "${name}"; allowed: ${names.join(", ")}`);
    return name;
}

async function run({ all, name, settings, stack, json }: Options): Promise<number> {
    // With --json, standard output contains only the journal.
    const window = new LiveWindow(json ? process.stderr : process.stdout);
    const runs = await ExperimentRuns.open(stack, window);
    const outcomes: Outcome[] = [];
    try {
        for (const experiment of all ? runs.fitting(settings.variant) : [name]) {
            if (runs.interrupted || outcomes.at(-1)?.notUndone) break;
            outcomes.push(await runs.whole({ ...settings, ...(experiment && { "experiment.name": experiment }) }));
        }
    } finally {
        runs.close();
    }
    if (all) window.print(verdictTable(outcomes));
    if (json) printJson(all ? outcomes.flatMap(({ journal }) => journal ?? []) : outcomes[0]?.journal);
    const notUndone = outcomes.at(-1)?.notUndone;
    if (notUndone) throw notUndone;
    if (runs.interrupted) return interrupted;
    return Math.max(...outcomes.map(({ journal }) => (journal ? exitCodes[journal.conclusion.verdict] : failed)));
}

function printJson(value: unknown): void {
    if (value !== undefined) process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** A line for each run: verdict, success rate, experiment and reason. */
function verdictTable(outcomes: readonly Outcome[]): string {
    const lines = outcomes.map(({ experiment, journal, error }) => {
        const { verdict, successRate, reason } = journal?.conclusion ?? {
            verdict: "not run",
            successRate: "",
            reason: error ?? "",
        };
        return `  ${verdict.padEnd(13)} ${successRate.padStart(6)}  ${experiment.padEnd(nameWidth)} ${reason}`;
    });
    return `\nVerdicts\n${lines.join("\n")}`;
}

main().catch((error: unknown) => {
    console.error(plainError(error));
    process.exitCode = failed;
});
