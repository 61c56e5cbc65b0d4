import { parseArgs } from "node:util";
import { mistakesInOutputs } from "../report/output-files";
import type { Wanted } from "../report/find-runs";

export interface ReportOptions {
    /** Journals, and folders of journals. */
    paths: string[];
    wanted: Wanted;
    /** Path of the JUnit XML file. */
    junit?: string;
    /** Path of the Markdown file. */
    summary?: string;
}

/** Dates without a time zone are left out: they would mean another moment on another machine. */
const moment = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** Parses the arguments of `chaos-report`. @returns the options, and a sentence for each mistake in them */
export function reportOptions(args: string[]): { help: true } | { options: ReportOptions; mistakes: string[] } {
    try {
        const { values, positionals } = parseArgs({
            args,
            allowPositionals: true,
            options: {
                junit: { type: "string" },
                summary: { type: "string" },
                since: { type: "string" },
                run: { type: "string" },
                help: { type: "boolean", short: "h" },
            },
        });
        if (values.help) return { help: true };
        const { junit, summary, since, run } = values;
        const at = since === undefined ? undefined : timeOf(since);
        const mistakes = [
            ...(positionals.length === 0 ? ["no journal is named: name journals, or folders of them"] : []),
            ...((junit ?? summary) === undefined
                ? ["nothing is to be written: add --junit FILE, --summary FILE or both"]
                : []),
            ...(since !== undefined && run !== undefined ? ["--since and --run exclude each other: omit one"] : []),
            ...(since !== undefined && at === undefined
                ? [`--since ${since} is not a time with a time zone; example: --since 2026-11-21T10:15:00Z`]
                : []),
            ...mistakesInOutputs({ "--junit": junit, "--summary": summary }),
        ];
        return { options: { paths: positionals, wanted: { since: at, run }, junit, summary }, mistakes };
    } catch (error) {
        return { options: { paths: [], wanted: {} }, mistakes: [(error as Error).message] };
    }
}

function timeOf(text: string): number | undefined {
    if (!moment.test(text) || Number.isNaN(Date.parse(text))) return undefined;
    const day = text.slice(0, 10);
    // February 31 is taken for March 3.
    return new Date(day).toISOString().startsWith(day) ? Date.parse(text) : undefined;
}
