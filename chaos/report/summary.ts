import { onlyObserves } from "../definition/plan";
import { describeMilliseconds } from "../values/duration";
import { onOneLine } from "../values/quoted";
import { pageOfReason } from "../values/reasons";
import {
    codeOf,
    countResults,
    hasPassed,
    named,
    noVerdict,
    pageOf,
    reasonOf,
    type ReportedRun,
    resultOf,
} from "./reported-run";
import { seriesLines } from "./series";
import { boundOfRun, rateOf } from "./rates";

/**
 * Most characters in the table, and as many in the list below it. Together they fit into a comment on GitHub, which has
 * at most 65,536 characters.
 */
const budget = 30_000;
/** Longer names and reasons are cut, before they are escaped. */
const longest = { name: 120, reason: 600 };

const columns = ["Experiment", "Verdict", "Requests", "Success rate", "Stable after", "Recovered after"];
const none = "–";

const aboutPages =
    "A page has the picture, the figures and all answers of its run. It needs no other file: download it, or the " +
    "artifact that has it, and open it in a browser.";

/** Runs as Markdown, for a comment or a job's summary: a table, below it the reasons and where the pages are. */
export function summaryMarkdown(runs: readonly ReportedRun[]): string {
    const shownRuns = named(runs).map((run) => ({ ...run, name: shown(run.name, longest.name) }));
    const rows = shownRuns.map((run) => tableRow([run.name, ...cellsOf(run)]));
    // If some must be left out, these are runs that have passed.
    const ordered = [...shownRuns.filter((run) => !hasPassed(run)), ...shownRuns.filter(hasPassed)];
    const reasons = ordered.map((run) => reasonLine(run, run.name));
    return [
        `### Chaos experiments: ${countResults(runs)}`,
        "",
        ...seriesLines(runs).flatMap((line) => [shown(line, longest.reason), ""]),
        tableRow(columns),
        tableRow(["---", "---", "---:", "---:", "---:", "---:"]),
        ...withinBudget(rows, (count) => tableRow([`and ${count} more`, ...columns.slice(1).map(() => "")])),
        "",
        ...withinBudget(reasons, (count) => `- and ${count} more`),
        ...(runs.some((run) => pageOf(run) !== undefined) ? ["", aboutPages] : []),
        "",
    ].join("\n");
}

function cellsOf({ journal, ...run }: ReportedRun): string[] {
    const undone = run.notUndone === undefined ? "" : ", **not undone**";
    if (journal === undefined) return [`**${noVerdict}**${undone}`, none, none, none, none];
    const { verdict, requests, successRate, timeToStabilityMs } = journal.conclusion;
    const rate = rateOf({ successRate, bound: boundOfRun(journal) });
    const wasAttacked = verdict !== "ABORTED";
    return [
        `${verdict === "PASSED" ? verdict : `**${verdict}**`}${undone}`,
        String(requests),
        wasAttacked ? shown(rate, longest.name) : none,
        wasAttacked ? timeOr("never", timeToStabilityMs) : none,
        wasAttacked
            ? timeOr(onlyObserves(journal.plan) ? none : "not undone yet", journal.recovery?.recoveredAfterMs)
            : none,
    ];
}

const timeOr = (absent: string, milliseconds: number | null | undefined) =>
    milliseconds === null || milliseconds === undefined ? absent : describeMilliseconds(milliseconds);

function reasonLine(run: ReportedRun, name: string): string {
    const [page, code] = [pageOf(run), codeOf(run)];
    const why = code === undefined ? "" : ` (<code>${code}</code>)`;
    return [
        `- **${name}** ${resultOf(run)}${why}: ${shown(reasonOf(run), longest.reason)}`,
        ...(code === undefined ? [] : [`What to do: <code>${pageOfReason(code)}</code>`]),
        ...(run.notUndone === undefined ? [] : [`Not undone: ${shown(run.notUndone, longest.reason)}`]),
        ...(page === undefined ? [] : [`Page: <code>${shown(page, longest.reason)}</code>`]),
    ].join("<br>");
}

/** Keeps lines up to the budget, then says how many are left out. */
function withinBudget(lines: readonly string[], leftOut: (count: number) => string): string[] {
    let left = budget;
    const fitting = lines.findIndex((line) => (left -= line.length + 1) < 0);
    return fitting === -1 ? [...lines] : [...lines.slice(0, fitting), leftOut(lines.length - fitting)];
}

const tableRow = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;

/** Characters with a meaning in Markdown or HTML, or that end a cell. */
const special = /[&<>|`*_~[\]\\]/g;
/** Before this, GitHub and GitLab see the name of a user, an issue or the like: `@sha256`, `#12`. */
const beforeReference = /(?<=[@#!$%])(?=\w)/g;

/** GitHub and GitLab make links of these by themselves: `https://a.example`, `www.a.example`, `GH-12`. */
const inLink = /(?=:\/\/)|(?<=\bwww)(?=\.)|(?<=\bGH)(?=-\d)/gi;

/** Shows a text as it is, on one line: nothing in it is formatted, is a link, notifies a user or refers to an issue. */
const shown = (text: string, most: number): string =>
    onOneLine(text, most)
        .replace(beforeReference, "\u200b")
        .replace(inLink, "\u200b")
        .replace(special, (character) => `&#${character.charCodeAt(0)};`);
