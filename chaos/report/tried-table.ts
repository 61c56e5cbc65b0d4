import { alignedRows } from "../values/aligned";
import { describeAge } from "../values/duration";
import { describeShown } from "../kinds/checks/confidence";
import { withoutControls } from "../values/quoted";
import type { Calls } from "./edges";
import type { ReportedRun } from "./reported-run";
import { type ReadRun, type TriedEdge, triedEdges } from "./tried";
import { boundOfRun } from "./rates";

/** For a caller or a callee. */
export const unknown = "–";

/** What the answers of a run show, in words. Undefined if its journal does not say. */
function boundOf({ journal }: ReadRun): string | undefined {
    const bound = boundOfRun(journal);
    return bound && describeShown(bound);
}

/** What a table says of an edge, by its heads. */
const columns: Record<string, (edge: TriedEdge, now: number) => string> = {
    Caller: ({ caller = unknown }) => caller,
    Callee: ({ callee = unknown }) => callee,
    Tried: ({ kinds }) => kinds.join(", ") || "never",
    Runs: ({ runs }) => (runs === 0 ? "" : String(runs)),
    Verdict: ({ last, isInconclusiveSince }) =>
        `${last?.journal.conclusion.verdict ?? ""}${isInconclusiveSince ? ", INCONCLUSIVE since" : ""}`,
    Bound: ({ last }) => (last && boundOf(last)) ?? "",
    Age: ({ last }, now) => (last ? describeAge(now - last.startedAt) : ""),
    Experiment: ({ last }) => last?.experiment ?? "",
};

/** The cells of a table, a row for each edge. Without the bound, if no journal has one. */
export function tableOf(edges: readonly TriedEdge[], now: number) {
    const hasBound = edges.some(({ last }) => last && boundOf(last) !== undefined);
    const shown = Object.entries(columns).filter(([head]) => head !== "Bound" || hasBound);
    return {
        heads: shown.map(([head]) => head),
        rows: edges.map((edge) => ({ edge, cells: shown.map(([head, cellOf]) => [head, cellOf(edge, now)] as const) })),
    };
}

/** Such as `7 edges, 5 tried: 3 PASSED, 1 FAILED, 1 INCONCLUSIVE; oldest 41 days; 2 never`. */
export function summaryOf(edges: readonly TriedEdge[], now: number): string {
    const tried = edges.flatMap(({ last }) => last ?? []);
    const counts = ["PASSED", "FAILED", "INCONCLUSIVE"].flatMap((verdict) => {
        const count = tried.filter(({ journal }) => journal.conclusion.verdict === verdict).length;
        return count === 0 ? [] : `${count} ${verdict}`;
    });
    const oldest = Math.min(...tried.map(({ startedAt }) => startedAt));
    const never = edges.length - tried.length;
    const parts = [
        `${edges.length} edge${edges.length === 1 ? "" : "s"}, ${tried.length} tried` +
            (tried.length === 0 ? "" : `: ${counts.join(", ")}`),
        ...(tried.length === 0 ? [] : [`oldest ${describeAge(now - oldest)}`]),
        ...(never === 0 ? [] : [`${never} never`]),
    ];
    return parts.join("; ");
}

/** What the reports cannot say. Undefined if there is nothing. */
export const describeUnlisted = (unlisted: readonly string[]): string | undefined =>
    unlisted.length === 0
        ? undefined
        : `No journal lists the workloads in ${unlisted.join(" and ")}, so what was never tried there is not known`;

/** For a terminal: a line for each edge, and the summary. */
export function triedLines(runs: readonly ReportedRun[], calls?: Calls, now = Date.now()): string[] {
    const { edges, unlisted } = triedEdges(runs, calls);
    const { heads, rows } = tableOf(edges, now);
    const table = [heads.map((head) => head.toUpperCase()), ...rows.map(({ cells }) => cells.map(([, cell]) => cell))];
    return [...(edges.length === 0 ? [] : alignedRows(table)), summaryOf(edges, now), describeUnlisted(unlisted) ?? []]
        .flat()
        .map(withoutControls);
}

/** For other programs. Times are milliseconds since the epoch. */
export function triedJson(runs: readonly ReportedRun[], calls?: Calls, now = Date.now()): string {
    const { edges, unlisted } = triedEdges(runs, calls);
    const listed = edges.map(({ last, ...edge }) => ({
        ...edge,
        ...(last && {
            verdict: last.journal.conclusion.verdict,
            bound: boundOf(last),
            experiment: last.experiment,
            startedAt: last.startedAt,
            journal: last.path,
        }),
    }));
    return `${JSON.stringify({ at: now, summary: summaryOf(edges, now), unlisted, edges: listed }, undefined, 2)}\n`;
}
