import { writeCiFiles } from "../report/ci-files";
import { findRuns, type Wanted } from "../report/find-runs";
import { countResults, hasPassed, type ReportedRun } from "../report/reported-run";
import { type ReportOptions, reportOptions } from "./report-options";

const help = `Usage: chaos-report [OPTIONS] JOURNAL_OR_FOLDER...

Turns the journals of experiments into reports for continuous integration. Changes nothing else.

  JOURNAL_OR_FOLDER  Journals (.json), or folders of them. A folder's other files are left out
  --junit FILE       Write a JUnit XML file: a suite for each run, a test case for its verdict and one for each check
  --summary FILE     Write a Markdown summary, for a comment or a job's summary
  --since TIME       Only runs that began at this time or later, such as 2026-11-21T10:15:00Z
  --run RUN          Only runs of this name: the experiment's run
  --help             Show this text

At least one of --junit and --summary is required. Files that are there are replaced.

Exit codes: 0 all runs PASSED, 1 one did not, no run was found or a file could not be written, 2 wrong use.`;

const exitCodes = { allPassed: 0, notAllPassed: 1, wrongUse: 2 };

/** Where a program prints to. */
export interface Output {
    log(line: string): void;
    error(line: string): void;
}

/** The program `chaos-report`. @returns its exit code */
export function chaosReport(args: string[], output: Output = console): number {
    const parsed = reportOptions(args);
    if ("help" in parsed) {
        output.log(help);
        return exitCodes.allPassed;
    }
    const { options } = parsed;
    const { runs, mistakes } = findRuns(options.paths, options.wanted);
    const all = [...parsed.mistakes, ...mistakes];
    if (all.length > 0) {
        output.error(`${all.join("\n")}\nSee: chaos-report --help`);
        return exitCodes.wrongUse;
    }
    return report(options, runs, output);
}

function report(options: ReportOptions, found: readonly ReportedRun[], output: Output): number {
    // A report without a single test would look as if all was well.
    const runs = found.length > 0 ? found : [nothingFound(options)];
    try {
        const written = writeCiFiles(options, runs);
        output.log(`${countResults(runs)}\nWrote ${written.join(" and ")}`);
    } catch (error) {
        output.error((error as Error).message);
        return exitCodes.notAllPassed;
    }
    return runs.every(hasPassed) ? exitCodes.allPassed : exitCodes.notAllPassed;
}

function nothingFound({ paths, wanted }: ReportOptions): ReportedRun {
    const error = `no run${describe(wanted)} was found in ${paths.join(", ")}`;
    return { experiment: "experiments", error, startedAt: Date.now(), durationMs: 0 };
}

function describe({ since, run }: Wanted): string {
    if (since !== undefined) return ` since ${new Date(since).toISOString()}`;
    return run === undefined ? "" : ` named ${run}`;
}
