import { relative, sep } from "node:path";
import { describeMilliseconds } from "../values/duration";
import { verdictLine } from "../values/reasons";
import { round, tooltip } from "./drawing";
import type { Journal } from "./journal-schema";
import { element, escape } from "./markup";
import { decidedOf, describeDecided } from "./pass-rate";
import { page, utc, verdictMark } from "./run-page";
import type { Calls } from "./edges";
import { countResults, noVerdict, pageOf, reasonOf, type ReportedRun, resultOf } from "./reported-run";
import { type ReadRun, triedEdges } from "./tried";
import { describeUnlisted, summaryOf, tableOf, unknown } from "./tried-table";
import { verdicts } from "./verdict";

const colored = (rule: (color: string) => string) =>
    verdicts.map((verdict) => `.cell.${verdict} { ${rule(`var(--${verdict})`)} }`).join(" ");

const style = `
    .runs { list-style: none; padding: 0; }
    .runs > li { padding: 0.5rem 0; border-bottom: 1px solid var(--line); break-inside: avoid; }
    .runs p { margin: 0; }
    .runs time { float: right; margin-left: 1rem; }
    .grid { overflow-x: auto; font-size: 0.8rem; line-height: 1.35; }
    .grid:focus-visible { outline: 2px solid var(--ink); outline-offset: 1px; }
    .grid th { width: auto; }
    .grid td { white-space: nowrap; }
    .grid th:first-child {
        position: sticky; left: 0; width: 11rem; min-width: 11rem; background: var(--paper);
    }
    .grid .faint { font-weight: 400; }
    .tried th, .tried td { white-space: normal; overflow-wrap: break-word; }
    .tried th:first-child { width: auto; min-width: 0; }
    .cells { display: flex; gap: 2px; list-style: none; margin: 0; padding: 3px; }
    .cell {
        display: block; width: 1.6rem; line-height: 1.6rem; text-align: center; font-weight: 700;
        text-decoration: none; border: 1px solid; border-radius: 3px;
    }
    ${colored((color) => `background: ${color}; color: var(--paper);`)}
    .dated .cell { width: auto; padding: 0 0.4rem; }
    .dated time { font-weight: 400; font-variant-numeric: tabular-nums; }
    .runs img { display: block; max-width: 100%; height: auto; margin-top: 0.5rem; }
    .times { vertical-align: middle; }
    .times path { stroke: var(--ink); stroke-width: 2; stroke-linecap: round; fill: none; }
    @media print {
        .grid { overflow: visible; }
        .cells { flex-wrap: wrap; }
        ${colored((color) => `background: none; color: ${color};`)}
    }`;

/** Up to this many runs of an experiment have their times in words: as a line they would be some dots. */
const fewRuns = 5;
/** So many of the newest runs have their picture: more would be slow to load. */
const mostPictures = 20;

const small = { width: 64, height: 16, edge: 3 };

/**
 * All runs: those with a verdict in a grid, with a row for each experiment; below it what was tried between callers and
 * callees, and a list with the reasons. The newest run is first, since older ones may need scrolling.
 *
 * @param folder that the page is written to: links are relative to it
 * @param calls that somebody knows besides the journals. @default none
 */
export function indexPage(runs: readonly ReportedRun[], folder: string, calls?: Calls, now = Date.now()): string {
    const newestFirst = [...runs].sort((a, b) => b.startedAt - a.startedAt);
    const concluded = newestFirst.filter((run): run is ReadRun => run.journal !== undefined);
    const attacking = concluded.filter((run) => resultOf(run) !== "ABORTED");
    const pictured = new Set<ReportedRun>(attacking.slice(0, mostPictures));
    const items = newestFirst.map((run) => listItem(run, folder, pictured.has(run)));
    const contents = [
        element("h1", {}, ["Experiment runs"]),
        element("p", {}, [countResults(runs)]),
        ...(concluded.length === 0 ? [] : grid(concluded, folder)),
        ...triedSection(runs, { folder, calls, now }),
        element("h2", {}, ["Reasons"]),
        element("ul", { class: "runs" }, items),
    ];
    return page("Experiment runs", contents, style);
}

function grid(runs: readonly ReadRun[], folder: string): string[] {
    const experiments = [...new Set(runs.map(({ experiment }) => experiment))].sort();
    const heads = ["Experiment", "First failure<br>Stable after", "Runs, newest first"].map((text) =>
        element("th", { scope: "col" }, [text]),
    );
    const runsOf = (name: string) => runs.filter(({ experiment }) => experiment === name);
    const rows = experiments.map((name) => row(name, runsOf(name), folder));
    const letters = verdicts.map((verdict) => `${verdict[0]} ${verdict}`).join(", ");
    return [
        scrolledTable("Runs of each experiment", heads, rows),
        element("p", { class: "faint" }, [`${letters}. Of the times, too, that of the newest run is first.`]),
    ];
}

/** It can be focused, and so scrolled by keyboard. */
function scrolledTable(name: string, heads: readonly string[], rows: readonly string[], kind = ""): string {
    const table = element("table", {}, [element("thead", {}, [element("tr", {}, heads)]), element("tbody", {}, rows)]);
    return element("div", { class: `grid${kind}`, tabindex: 0, role: "region", "aria-label": name }, [table]);
}

/** Ages are those at the time of writing, which the page therefore says. */
function triedSection(
    runs: readonly ReportedRun[],
    { folder, calls, now }: { folder: string; calls?: Calls; now: number },
): string[] {
    const { edges, unlisted } = triedEdges(runs, calls);
    if (edges.length === 0) return [];
    const { heads, rows } = tableOf(edges, now);
    const cellOf =
        (run: ReadRun | undefined) =>
        ([head, text]: readonly [string, string]) => {
            if (["Caller", "Callee"].includes(head)) return element("th", { scope: "row" }, [escape(text)]);
            const verdict = head === "Verdict" ? run?.journal.conclusion.verdict : undefined;
            if (run === undefined || verdict === undefined) return element("td", {}, [escape(text)]);
            return element("td", { class: `verdict ${verdict}` }, [
                element("a", { href: hrefOf(run, folder)! }, [escape(text)]),
            ]);
        };
    const isPartlyKnown = edges.some(({ caller, callee }) => caller === undefined || callee === undefined);
    const notes = [isPartlyKnown ? `${unknown}: not known` : [], describeUnlisted(unlisted) ?? []].flat();
    return [
        element("h2", {}, ["Callers and callees"]),
        element("p", {}, [`As of ${utc(now)}: ${escape(summaryOf(edges, now))}.`]),
        scrolledTable(
            "What was tried between callers and callees",
            heads.map((head) => element("th", { scope: "col" }, [head])),
            rows.map(({ edge, cells }) => element("tr", {}, cells.map(cellOf(edge.last)))),
            " tried",
        ),
        ...notes.map((note) => element("p", { class: "faint" }, [`${escape(note)}.`])),
    ];
}

function row(name: string, runs: readonly ReadRun[], folder: string): string {
    const faint = (text: string) => element("div", { class: "faint" }, [text]);
    const isDated = runs.length <= fewRuns;
    const cells = runs.map((run) => element("li", {}, [cell(run, folder, isDated)]));
    return element("tr", {}, [
        element("th", { scope: "row" }, [
            escape(name),
            faint(describeDecided(decidedOf(runs))),
            ...(runs.length > 1 ? [faint(lastChange(runs))] : []),
        ]),
        element("td", {}, [
            times("First failure", runs, ({ timeToFirstFailureMs }) => timeToFirstFailureMs),
            times("Stable after", runs, ({ timeToStabilityMs }) => timeToStabilityMs),
        ]),
        element("td", {}, [element("ol", { class: isDated ? "cells dated" : "cells", role: "list" }, cells)]),
    ]);
}

/** @param runs newest first */
function lastChange(runs: readonly ReadRun[]): string {
    const result = resultOf(runs[0]!);
    const other = runs.findIndex((run) => resultOf(run) !== result);
    if (other === -1) return `always ${result}`;
    return `${result} since ${utc(runs[other - 1]!.startedAt).slice(0, 10)}, ${resultOf(runs[other]!)} before`;
}

/** @param isDated whether it shows when the run began */
function cell(run: ReadRun, folder: string, isDated: boolean): string {
    const { conclusion, startedAt } = run.journal;
    const title = `${utc(startedAt)}, ${nameOf(run)}: ${verdictLine(conclusion)}`;
    const attributes = { class: `cell ${conclusion.verdict}`, href: hrefOf(run, folder)!, title, "aria-label": title };
    // Without the year, to be short.
    const date = isDated ? [" ", element("time", {}, [utc(startedAt).slice(5, 19)])] : [];
    return element("a", attributes, [conclusion.verdict[0]!, ...date]);
}

/** Draws a time of each run as a line, with gaps where a run has none, and says that of the newest. Lists few. */
function times(
    what: string,
    runs: readonly ReadRun[],
    timeOf: (conclusion: Journal["conclusion"]) => number | null,
): string {
    const values = runs.map(({ journal }) => timeOf(journal.conclusion));
    const worded = (value: number | null) => (value === null ? "never" : describeMilliseconds(value));
    const wordedOf = (index: number) => (resultOf(runs[index]!) === "ABORTED" ? "–" : worded(values[index]!));
    if (runs.length <= fewRuns) {
        const listed = values.map((_value, index) => wordedOf(index)).join(", ");
        return element("div", { role: "group", "aria-label": what }, [listed]);
    }
    const most = Math.max(...values.map((value) => value ?? 0));
    const x = (index: number) => small.edge + (index / Math.max(1, runs.length - 1)) * (small.width - 2 * small.edge);
    const y = (value: number) =>
        small.height - small.edge - (value / Math.max(1, most)) * (small.height - 2 * small.edge);
    const course = values.map((value, index) => {
        if (value === null) return "";
        const place = `${round(x(index))} ${round(y(value))}`;
        // A value that stands alone is a dot.
        return index > 0 && values[index - 1] !== null ? `L${place}` : `M${place}h0`;
    });
    const newest = wordedOf(0);
    const longest = worded(values.every((value) => value === null) ? null : most);
    const title = `${what}: ${newest}; the longest of ${runs.length}: ${longest}`;
    const { width, height } = small;
    const svg = element("svg", { class: "times", role: "img", "aria-label": title, width, height }, [
        tooltip(title),
        element("path", { d: course.join("") }),
    ]);
    return element("div", {}, [svg, ` ${newest}`]);
}

/** Reasons are sentences, and names are long, so a table would be wider than a small window. */
function listItem(run: ReportedRun, folder: string, isPictured: boolean): string {
    const { journal, startedAt } = run;
    const href = hrefOf(run, folder);
    const name = escape(nameOf(run));
    return element("li", {}, [
        element("p", {}, [
            element("time", { class: "faint", datetime: new Date(startedAt).toISOString() }, [utc(startedAt)]),
            journal ? verdictMark(journal.conclusion) : element("span", { class: "verdict" }, [noVerdict]),
            " ",
            journal && href !== undefined ? element("a", { href }, [name]) : name,
        ]),
        element("p", {}, [escape(reasonOf(run))]),
        ...(isPictured && href !== undefined ? [picture(href)] : []),
    ]);
}

/** The picture is beside the page. */
const picture = (href: string) =>
    element("img", { src: href.replace(/html$/, "svg"), alt: "Its answers over time", loading: "lazy" }, []);

/** A run that is named by a time has no name here: two times would be shown that differ by some seconds. */
function nameOf({ experiment, journal }: ReportedRun): string {
    const run = journal?.plan.run;
    return run === undefined || /^\d{4}-\d\d-\d\dT/.test(run) ? experiment : `${experiment}, run ${run}`;
}

function hrefOf(run: ReportedRun, folder: string): string | undefined {
    const path = pageOf(run);
    return path === undefined ? undefined : relative(folder, path).split(sep).map(encodeURIComponent).join("/");
}
