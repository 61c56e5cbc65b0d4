import { parseArgs } from "node:util";
import { join as joined } from "shlex";
import { join } from "node:path";
import { type CiFiles, mistakesInOutputs, writeCiFiles } from "../report/exports/ci-files";
import type { ReportedRun } from "../report/reported-run";
import { usualLevelText } from "../values/bound";
import { withoutControls } from "../values/quoted";
import { Interruption } from "./interruption";
import { exitCodeOf, failed, interrupted, verdictTable } from "./outcomes";
import { plainError } from "./plain-error";
import { ProgramStack } from "./repeat/program-stack";
import { RepeatedExperiment } from "./repeat/repeated-experiment";
import { continuing, exitCodeOfDecision, type Repeat, repeatIn, runSeries, seriesEnd } from "./series";

const help = `Usage: chaos repeat EXPERIMENT --times NUMBER [OPTIONS]

Runs an experiment of a Pulumi program again and again, each time with targets chosen again at random, and prints how
many runs passed and what that shows. Run it in the project's folder. Each run is an update of the stack that enables
the experiment, and one that disables it; the program's other experiments and the stack's settings stay as they are.
No run begins if the update would change anything else: update the stack first. Each run is previewed for that, so a
program that is changed meanwhile ends the series.

Ctrl-C undoes the run, and ends the series.

  EXPERIMENT       Name of the component in the program
  --times NUMBER   Runs of the whole series, 2 to 9999
  --until PERCENT  Stop as soon as it is shown, with ${usualLevelText} confidence, that at least this share of
                   decided runs passes, such as 95%, or that it does not. Only PASSED and FAILED are decided
  --continue       Go on with the last series of the same stack, settings and cluster, instead of beginning one
  --stack NAME     The stack. Default: the selected one
  --junit FILE     Write a JUnit XML file at the end, also if a run fails: a suite, with a test case for each run
  --summary FILE   Write a Markdown summary at the end, also if a run fails
  --help           Show this text

Exit codes: 0 all runs PASSED, 2 one FAILED, 3 one was INCONCLUSIVE, 4 one was ABORTED (the highest counts); with
--until: 0 it is shown that so many of the decided runs pass, 2 that fewer do, 3 neither. 1 a run could not be made or
undone, a file could not be written, or wrong use. 130 interrupted.`;

interface RepeatOptions {
    experiment: string;
    repeat: Repeat;
    stack?: string;
    files: CiFiles;
}

/** The command `chaos repeat`. @param output where it prints to. @returns its exit code */
export async function chaosRepeat(args: string[], output: Pick<Console, "log" | "error"> = console): Promise<number> {
    let options: RepeatOptions | { help: true };
    try {
        options = repeatOptions(args);
    } catch (error) {
        output.error(`${(error as Error).message}\nSee: chaos repeat --help`);
        return failed;
    }
    if ("help" in options) {
        output.log(help);
        return 0;
    }
    const { experiment, repeat, files } = options;
    const print = (line: string) => output.log(withoutControls(line));
    const outcomes: ReportedRun[] = [];
    const startedAt = Date.now();
    let [interruption, runs]: [Interruption?, RepeatedExperiment?] = [];
    let problem: string | undefined;
    try {
        const stack = await ProgramStack.open(options.stack);
        interruption = new Interruption(stack, print);
        runs = await RepeatedExperiment.preview(stack, experiment, interruption, print);
        await runSeries(runs, repeat, outcomes, print);
    } catch (error) {
        problem = plainError(error);
        outcomes.push({ experiment, error: problem, startedAt, durationMs: Date.now() - startedAt });
    }
    const isWritten = write(files, outcomes, output);
    if (runs) {
        print(verdictTable(outcomes));
        for (const line of ["", ...seriesEnd(outcomes, repeat), `All runs: ${join(runs.reports, "index.html")}`])
            print(line);
    }
    problem = outcomes.find(({ notUndone }) => notUndone)?.notUndone ?? problem;
    if (interruption?.happened) {
        print(`To go on with the series: ${joined(["npx", "chaos", "repeat", ...continuing(args)])}`);
        if (problem === undefined || runs === undefined) return interrupted;
    }
    if (problem !== undefined) {
        output.error(withoutControls(problem));
        return failed;
    }
    return Math.max(exitCodeFor(outcomes, repeat), isWritten ? 0 : failed);
}

function exitCodeFor(outcomes: readonly ReportedRun[], { until }: Repeat): number {
    if (until !== undefined) return exitCodeOfDecision(outcomes, until);
    return Math.max(...outcomes.map(exitCodeOf));
}

/** @returns false if a file could not be written: the result must still be printed */
function write(files: CiFiles, outcomes: readonly ReportedRun[], output: Pick<Console, "log" | "error">): boolean {
    try {
        for (const path of writeCiFiles(files, outcomes)) output.log(`Wrote ${path}`);
        return true;
    } catch (error) {
        output.error(`A report could not be written: ${(error as Error).message}`);
        return false;
    }
}

/** @throws Error with all mistakes */
export function repeatOptions(args: string[]): RepeatOptions | { help: true } {
    const { values, positionals } = parseArgs({
        args,
        allowPositionals: true,
        options: {
            times: { type: "string" },
            until: { type: "string" },
            continue: { type: "boolean" },
            stack: { type: "string" },
            junit: { type: "string" },
            summary: { type: "string" },
            help: { type: "boolean", short: "h" },
        },
    });
    if (values.help) return { help: true };
    const { junit, summary, stack, ...written } = values;
    const mistakes: string[] = [];
    const [experiment = "", ...more] = positionals;
    if (experiment === "" || more.length > 0) mistakes.push("name exactly one experiment of the program");
    const repeat = repeatIn(written, mistakes);
    if (values.times === undefined && !values.until && !values.continue)
        mistakes.push("add --times, such as --times 10");
    if (stack === "") mistakes.push('--stack "": the name of a stack is missing');
    mistakes.push(...mistakesInOutputs({ "--junit": junit, "--summary": summary }));
    if (mistakes.length > 0) throw new Error(mistakes.join("\n"));
    return { experiment, repeat: repeat!, stack, files: { junit, summary } };
}
