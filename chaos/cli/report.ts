import { parseArgs } from "node:util";
import { type CiFiles, mistakesInOutputs, writeCiFiles } from "../report/exports/ci-files";
import { findRuns, type Wanted } from "../report/journal-files";
import { annotate, mistakeInToken, tokenVariable } from "../report/exports/grafana";
import type { Calls } from "../report/edges";
import type { Journal } from "../report/journal-schema";
import { mistakeInUrl } from "../report/exports/receiver";
import { countResults, hasPassed, type ReportedRun } from "../report/reported-run";
import { seriesLines } from "../report/series";
import { triedLines } from "../report/tried-table";
import { withoutControls } from "../values/quoted";

const help = `Usage: chaos-report [OPTIONS] JOURNAL_OR_FOLDER...

Lists callers and callees, what was tried on each, and the last verdict. With options, turns the journals of
experiments into reports for continuous integration, traces and annotations instead.

  JOURNAL_OR_FOLDER  Journals (.json), or folders of them. A folder's other files are left out
  --junit FILE       Write a JUnit XML file: a suite for each run, with test cases for its
                     verdict and its checks; of repeated runs one suite, with a test case for each run
  --summary FILE     Write a Markdown summary, for a comment or a job's summary
  --index FILE       Write a page with a grid of all runs. It links to the pages beside the journals
  --badge FILE       Write an SVG for a README: how many experiments' newest runs have passed
  --tried FILE       Write the list of callers and callees as JSON
  --otlp URL         Send each run as a trace to a receiver of OTLP over HTTP, such as http://localhost:4318.
                     Credentials are in the variable OTEL_EXPORTER_OTLP_HEADERS
  --grafana URL      Write an annotation for the attacked time of each run to Grafana. The variable GRAFANA_TOKEN is
                     the token of a service account that may read and write annotations
  --since TIME       Only runs that began at this time or later, such as 2026-11-21T10:15:00Z
  --run RUN          Only runs of this name: the experiment's run
  --help             Show this text

Files, traces and annotations that are there are replaced.

Exit codes: 0 all runs PASSED, 1 one did not, no run was found or a file could not be written, 2 wrong use, 3 as 0, but
something could not be sent. Without --junit and --summary, 0 also if one did not: the others show earlier runs.`;

const exitCodes = { allPassed: 0, notAllPassed: 1, wrongUse: 2, notSent: 3 };

/**
 * The program `chaos-report`.
 *
 * @param output where it prints to
 * @param calls that the caller knows besides the journals. @default none
 * @returns its exit code
 */
export async function chaosReport(
    args: string[],
    output: Pick<Console, "log" | "error"> = console,
    calls?: Calls,
): Promise<number> {
    const parsed = reportOptions(args);
    if ("help" in parsed) {
        output.log(help);
        return exitCodes.allPassed;
    }
    const { paths, wanted, files, receivers } = parsed;
    const { runs, others, mistakes } = findRuns(paths, wanted);
    const judges = (files.junit ?? files.summary) !== undefined;
    const all = [...parsed.mistakes, ...mistakes, ...(judges ? others.map(({ error }) => error) : [])];
    if (all.length > 0) {
        output.error(`${all.join("\n")}\nSee its --help`);
        return exitCodes.wrongUse;
    }
    runs.push(...others);
    const isEmpty = runs.length === 0;
    const lists = Object.keys(files).length === 0 && (receivers.otlp ?? receivers.grafana) === undefined;
    if (isEmpty) {
        const error = `no run${describe(wanted)} was found in ${paths.join(", ")}`;
        if (lists) {
            output.error(error);
            return exitCodes.notAllPassed;
        }
        // A report without a single test would look as if all was well.
        runs.push({ experiment: "experiments", error, startedAt: Date.now(), durationMs: 0 });
    }
    // Neither lists nor badges have room for it.
    const unread = runs.flatMap(({ error }) => error ?? []);
    if (unread.length > 0) output.error(withoutControls(unread.join("\n")));
    try {
        const written = writeCiFiles(files, runs, calls);
        const lines = [
            countResults(runs),
            ...(written.length > 0 ? [`Wrote ${written.join(" and ")}`] : []),
            ...(lists ? [...triedLines(runs, calls), ...seriesLines(runs).map(withoutControls)] : []),
        ];
        output.log(lines.join("\n"));
    } catch (error) {
        output.error((error as Error).message);
        return exitCodes.notAllPassed;
    }
    const isSent = await sendAll(receivers, runs, output);
    if (!runs.every(hasPassed) && (judges || isEmpty)) return exitCodes.notAllPassed;
    return isSent ? exitCodes.allPassed : exitCodes.notSent;
}

/** What sends a run to each receiver, by the option that names the receiver. What it returns is printed. */
const senders = {
    async otlp(url: string, journals: readonly Journal[]) {
        // OpenTelemetry takes longer to load than everything else.
        const { sendTraces } = await import("../report/exports/otlp.js");
        await sendTraces(url, journals);
        return `Sent ${counted(journals.length, "trace")} to ${url}`;
    },
    async grafana(url: string, journals: readonly Journal[]) {
        const count = await annotate(url, process.env[tokenVariable]!, journals);
        return `Wrote ${counted(count, "annotation")} to ${url}`;
    },
};
type Receivers = Partial<Record<keyof typeof senders, string>>;

/** Sends to each receiver, even if another fails. @returns whether all receivers accepted what they were sent */
async function sendAll(
    receivers: Receivers,
    runs: readonly ReportedRun[],
    output: Pick<Console, "log" | "error">,
): Promise<boolean> {
    const journals = runs.flatMap(({ journal }) => journal ?? []);
    let isSent = true;
    for (const [option, send] of Object.entries(senders)) {
        const url = receivers[option as keyof Receivers];
        if (url === undefined) continue;
        try {
            output.log(await send(url, journals));
        } catch (error) {
            output.error((error as Error).message);
            isSent = false;
        }
    }
    return isSent;
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;

function describe({ since, run }: Wanted): string {
    if (since !== undefined) return ` since ${new Date(since).toISOString()}`;
    return run === undefined ? "" : ` named ${run}`;
}

interface ReportOptions {
    paths: string[];
    wanted: Wanted;
    files: CiFiles;
    receivers: Receivers;
    /** A sentence for each mistake in the arguments. */
    mistakes: string[];
}

/** A time zone is required: without it, a time would be another moment on another machine. */
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
                tried: { type: "string" },
                otlp: { type: "string" },
                grafana: { type: "string" },
                since: { type: "string" },
                run: { type: "string" },
                help: { type: "boolean", short: "h" },
            },
        });
        if (values.help) return { help: true };
        const { since, run, otlp, grafana, help: _, ...files } = values;
        const at = since === undefined ? undefined : timeOf(since);
        const outputs = Object.fromEntries(Object.entries(files).map(([option, path]) => [`--${option}`, path]));
        const mistakes = [
            paths.length === 0 && "no journal is named: name journals, or folders of them",
            since !== undefined && run !== undefined && "--since and --run exclude each other: omit one",
            since !== undefined &&
                at === undefined &&
                `--since ${since} is not a time with a time zone; example: --since 2026-11-21T10:15:00Z`,
            ...mistakesInOutputs(outputs),
            ...mistakesInReceivers({ otlp, grafana }),
        ].filter((mistake) => mistake !== false);
        return { paths, wanted: { since: at, run }, files, receivers: { otlp, grafana }, mistakes };
    } catch (error) {
        return { paths: [], wanted: {}, files: {}, receivers: {}, mistakes: [(error as Error).message] };
    }
}

function mistakesInReceivers({ otlp, grafana }: Receivers): string[] {
    const inHeaders = "set OTEL_EXPORTER_OTLP_HEADERS instead";
    const mistakes: [option: string, mistake: string | undefined][] = [
        ["--otlp", otlp === undefined ? undefined : mistakeInUrl(otlp, inHeaders)],
        ["--grafana", grafana === undefined ? undefined : mistakeInUrl(grafana, `set ${tokenVariable} instead`)],
        ["--grafana", grafana === undefined ? undefined : mistakeInToken(process.env[tokenVariable])],
    ];
    return mistakes.flatMap(([option, mistake]) => (mistake === undefined ? [] : `${option}: ${mistake}`));
}

function timeOf(text: string): number | undefined {
    if (!moment.test(text) || Number.isNaN(Date.parse(text))) return undefined;
    const day = text.slice(0, 10);
    // Date takes February 31 for March 3.
    return new Date(day).toISOString().startsWith(day) ? Date.parse(text) : undefined;
}
