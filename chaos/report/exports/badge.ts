import { groupedBy } from "../../values/grouped";
import { label, rect } from "../drawing";
import { element, escape } from "../markup";
import { hasPassed, type ReportedRun, resultOf } from "../reported-run";

const height = 20;
const colors = { name: "#3b434d", good: "#1b7f5c", bad: "#c2410c", unknown: "#6a7586" };

/**
 * How the newest run of each experiment ended, as a picture for a README: `chaos | 2 of 3 passed`. An experiment counts
 * in each place where it ran: one that passes in a test cluster must not hide that it failed in production. The title
 * names the experiments that have not passed, or whose newest journal cannot be read.
 */
export function badgeSvg(runs: readonly ReportedRun[]): string {
    const sorted = [...runs].sort((a, b) => a.startedAt - b.startedAt);
    const read = new Set(sorted.flatMap(({ journal, experiment }) => (journal ? experiment : [])));
    const newest = [...groupedBy(sorted, (run) => experimentOf(run, read)).values()].flatMap(newestOf);
    const others = newest.filter((run) => !hasPassed(run));
    const text = read.size === 0 ? "no runs" : `${newest.length - others.length} of ${newest.length} passed`;
    const title = [`Chaos experiments: ${text}`, ...others.map((run) => titleOf(run, newest))].join("; ");
    const color = read.size === 0 ? "unknown" : others.length === 0 ? "good" : "bad";
    const [name, result] = [part("chaos", 0, "name"), part(text, widthOf("chaos"), color)];
    const width = widthOf("chaos") + widthOf(text);
    const attributes = { xmlns: "http://www.w3.org/2000/svg", width, height, role: "img", "aria-label": title };
    return `${element("svg", attributes, [
        element("title", {}, [escape(title)]),
        element("style", {}, [
            `text { font: 11px Verdana, "DejaVu Sans", sans-serif; fill: #fff; } ` +
                Object.entries(colors)
                    .map(([part, fill]) => `.${part} { fill: ${fill}; }`)
                    .join(" "),
        ]),
        ...name,
        ...result,
    ])}\n`;
}

/**
 * The newest run in each place. Where one without a readable journal ran is not known: if it is the newest, it counts
 * alone.
 *
 * @param runs of an experiment, the oldest first
 */
function newestOf(runs: readonly ReportedRun[]): ReportedRun[] {
    if (runs.at(-1)!.journal === undefined) return [runs.at(-1)!];
    return [...new Map(runs.flatMap((run) => (run.journal ? [[placeOf(run), run] as const] : []))).values()];
}

/** Two stacks are seldom in the same one. The uid is no part of it: pipelines make clusters again and again. */
const placeOf = ({ journal }: ReportedRun): string =>
    journal === undefined ? "" : `${journal.plan.context ?? journal.plan.clusterName}/${journal.plan.namespace}`;

function titleOf(run: ReportedRun, all: readonly ReportedRun[]): string {
    const isInSeveral = all.filter(({ experiment }) => experiment === run.experiment).length > 1;
    return `${run.experiment}${isInSeveral ? ` in ${placeOf(run)}` : ""} ${resultOf(run)}`;
}

/**
 * The name of a file without a readable journal begins with EXPERIMENT-RUN, so the longest known name that it begins
 * with is the experiment's.
 */
function experimentOf({ journal, experiment }: ReportedRun, read: ReadonlySet<string>): string {
    if (journal) return experiment;
    const candidates = [...read].filter((name) => `${experiment}-`.startsWith(`${name}-`));
    return candidates.sort((a, b) => b.length - a.length)[0] ?? experiment;
}

/** Verdana, among the widest fonts, fits into this. */
const widthOf = (text: string) => text.length * 7 + 12;

function part(text: string, left: number, color: keyof typeof colors): string[] {
    return [rect(color, left, 0, widthOf(text), height), label(left + widthOf(text) / 2, 14, text, "", "middle")];
}
