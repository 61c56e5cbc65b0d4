import { parseArgs } from "node:util";
import { savedExperiments } from "../experiments/saved";
import type { Verdict } from "../experiments/verdict";
import { ExperimentRuns, type Outcome } from "./experimentRuns";
import { LiveWindow } from "./liveWindow";
import { plainError, say } from "./session";
import { settingsIn } from "./settingsOption";

/** How the program ends, by what the run came to; by the worst of them where there are several. */
const exitCodes: Record<Verdict, number> = { PASSED: 0, FAILED: 2, INCONCLUSIVE: 3, ABORTED: 4 };
const failed = 1;
const interrupted = 130;
/** Of a column of experiments' names. */
const nameWidth = 28;

const help = `npm run experiment -- [NAME] [OPTIONS]: a whole run of an experiment, as stack updates.

Enables the experiment, shows the check as it goes, reports, and undoes everything. The shop is brought up where it is
not. The stack's file stays as it is: what a run needs is set in a copy.

  NAME                 a saved experiment. Default: what the stack's file names, else hot-deals-blackhole
  --all                every saved experiment that the stack's variant has the workloads for, one after the other, and a
                       table of verdicts at the end
  --list               the saved experiments and their hypotheses
  --set KEY=VALUE      a setting for this run, such as --set experiment.radius=50%; may be repeated
  --stack NAME         default: local
  --json               print the run's journal and nothing else on standard output; with --all, an array of them. Have npm
                       say nothing of its own: npm run -s experiment -- --json
  --help

Ctrl-C ends the attack and waits until the shop has recovered.

Exit code: 0 PASSED, 2 FAILED, 3 INCONCLUSIVE, 4 ABORTED, 1 the run could not be made, 130 interrupted.
With --all it is the highest of them.`;

interface Options {
    /** Undefined: the one that the stack's file names. `all`: every one that its shop has the workloads for. */
    experiment: string | "all" | undefined;
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
            set: { type: "string", multiple: true, default: [] },
            stack: { type: "string", default: "local" },
            json: { type: "boolean", default: false },
            help: { type: "boolean", short: "h", default: false },
        },
    });
    if (values.help) return say(help);
    const name = nameIn(positionals);
    if (name !== undefined && (values.list || values.all))
        throw new Error(`${values.list ? "--list" : "--all"} is of all experiments: leave ${name} out`);
    if (values.list) return list();
    const experiment = values.all ? "all" : name;
    process.exitCode = await run({
        experiment,
        settings: settingsIn(values.set),
        stack: values.stack,
        json: values.json,
    });
}

function list(): void {
    for (const { name, hypothesis, variant } of savedExperiments())
        say(`${name.padEnd(nameWidth)} ${hypothesis}${variant ? ` (variant ${variant})` : ""}`);
}

function nameIn([name, ...more]: string[]): string | undefined {
    const names = savedExperiments().map((saved) => saved.name);
    if (more.length > 0) throw new Error("one experiment at a time, or all of them: npm run experiment -- --all");
    if (name !== undefined && !names.includes(name))
        throw new Error(`there is no saved experiment "${name}"; there are: ${names.join(", ")}`);
    return name;
}

async function run({ experiment, settings, stack, json }: Options): Promise<number> {
    // Standard output is the journal's alone where it is asked for; what happens is told on standard error.
    const window = new LiveWindow(json ? process.stderr : process.stdout);
    const runs = await ExperimentRuns.open(stack, window);
    const outcomes: Outcome[] = [];
    try {
        const names = experiment === "all" ? runs.fitting(settings.variant) : [experiment];
        for (const name of names) {
            if (runs.interrupted || outcomes.at(-1)?.notUndone) break;
            const outcome = await runs.whole({ ...settings, ...(name && { "experiment.name": name }) });
            outcomes.push(outcome);
        }
    } finally {
        runs.close();
    }
    if (experiment === "all") window.print(verdictTable(outcomes));
    if (json) printJson(experiment === "all" ? outcomes.flatMap(({ journal }) => journal ?? []) : outcomes[0]?.journal);
    const notUndone = outcomes.at(-1)?.notUndone;
    if (notUndone) throw notUndone;
    if (runs.interrupted) return interrupted;
    return Math.max(...outcomes.map(({ journal }) => (journal ? exitCodes[journal.conclusion.verdict] : failed)));
}

function printJson(value: unknown): void {
    if (value !== undefined) process.stdout.write(`${JSON.stringify(value, undefined, 2)}\n`);
}

/** A line for each run: its verdict, its success rate, its experiment and why. */
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
