import { parseArgs } from "node:util";
import { type CiFiles, mistakesInOutputs, writeCiFiles } from "../report/ci-files";
import { findRuns, type Wanted } from "../report/find-runs";
import { countResults, hasPassed } from "../report/reported-run";

const help = `Usage: chaos-report [OPTIONS] JOURNAL_OR_FOLDER...

Turns the journals of experiments into reports for continuous integration. Changes nothing else.

  JOURNAL_OR_FOLDER  Journals (.json), or folders of them. A folder's other files are left out
  --junit FILE       Write a JUnit XML file: a suite for each run, a test case for its verdict and one for each check
  --summary FILE     Write a Markdown summary, for a comment or a job's summary
  --index FILE       Write a page with a grid of all runs. It links to the pages beside the journals
  --badge FILE       Write an SVG for a README: how many experiments' newest runs have passed
  --since TIME       Only runs that began at this time or later, such as 2026-11-21T10:15:00Z
  --run RUN          Only runs of this name: the experiment's run
  --help             Show this text

At least one file to write is required. Files that are there are replaced.

Exit codes: 0 all runs PASSED, 1 one did not, no run was found or a file could not be written, 2 wrong use. With only
--index and --badge, 0 also if one did not: they show earlier runs.`;

const exitCodes = { allPassed: 0, notAllPassed: 1, wrongUse: 2 };

/** The program `chaos-report`. @param output where it prints to. @returns its exit code */
export function chaosReport(args: string[], output: Pick<Console, "log" | "error"> = console): number {
    const parsed = reportOptions(args);
    if ("help" in parsed) {
        output.log(help);
        return exitCodes.allPassed;
    }
    const { paths, wanted, files } = parsed;
    const { runs, others, mistakes } = findRuns(paths, wanted);
    const judges = (files.junit ?? files.summary) !== undefined;
    const all = [...parsed.mistakes, ...mistakes, ...(judges ? others.map(({ error }) => error) : [])];
    if (all.length > 0) {
        output.error(`${all.join("\n")}\nSee: chaos-report --help`);
        return exitCodes.wrongUse;
    }
    // A report without a single test would look as if all was well.
    runs.push(...others);
    const isEmpty = runs.length === 0;
    if (isEmpty) {
        const error = `no run${describe(wanted)} was found in ${paths.join(", ")}`;
        runs.push({ experiment: "experiments", error, startedAt: Date.now(), durationMs: 0 });
    }
    try {
        const written = writeCiFiles(files, runs);
        output.log(`${countResults(runs)}\nWrote ${written.join(" and ")}`);
    } catch (error) {
        output.error((error as Error).message);
        return exitCodes.notAllPassed;
    }
    return runs.every(hasPassed) || !(judges || isEmpty) ? exitCodes.allPassed : exitCodes.notAllPassed;
}

function describe({ since, run }: Wanted): string {
    if (since !== undefined) return ` since ${new Date(since).toISOString()}`;
    return run === undefined ? "" : ` named ${run}`;
}

interface ReportOptions {
    /** Journals, and folders of journals. */
    paths: string[];
    wanted: Wanted;
    files: CiFiles;
    /** A sentence for each mistake in the arguments. */
    mistakes: string[];
}

/** Dates without a time zone are left out: they would mean another moment on another machine. */
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

export function reportOptions(args: string[]): { help: true } | ReportOptions {
    try {
        const { values, positionals: paths } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                junit: { type: "string" },
                summary: { type: "string" },
                index: { type: "string" },
                badge: { type: "string" },
                since: { type: "string" },
                run: { type: "string" },
                help: { type: "boolean", short: "h" },
            },
        });
        if (values.help) return { help: true };
        const { since, run, help: _, ...files } = values;
        const at = since === undefined ? undefined : timeOf(since);
        const mistakes = [
            paths.length === 0 && "no journal is named: name journals, or folders of them",
            Object.keys(files).length === 0 &&
                "nothing is to be written: add --junit FILE, --summary FILE, --index FILE or --badge FILE",
            since !== undefined && run !== undefined && "--since and --run exclude each other: omit one",
            since !== undefined &&
                at === undefined &&
                `--since ${since} is not a time with a time zone; example: --since 2026-11-21T10:15:00Z`,
            ...mistakesInOutputs(
                Object.fromEntries(Object.entries(files).map(([option, path]) => [`--${option}`, path])),
            ),
        ].filter((mistake) => mistake !== false);
        return { paths, wanted: { since: at, run }, files, mistakes };
    } catch (error) {
        return { paths: [], wanted: {}, files: {}, mistakes: [(error as Error).message] };
    }
}

function timeOf(text: string): number | undefined {
    if (!moment.test(text) || Number.isNaN(Date.parse(text))) return undefined;
    const day = text.slice(0, 10);
    // February 31 is taken for March 3.
    return new Date(day).toISOString().startsWith(day) ? Date.parse(text) : undefined;
}
