import { median } from "../../bench/figure";
import { alignedRows } from "../../cli/print";
import type { Outcome } from "./kind";
import { isRight, keyOf, type Result } from "./results";

const outcomes: readonly Outcome[] = ["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED", "none"];
const heads = ["kind", "denied", "trials", ...outcomes, "wrong", "left", "median s"];
/** The columns of numbers. */
const rightFrom = 2;

/** A row for each kind and network, and one for all, as cells of text. */
function rows(results: readonly Result[]): string[][] {
    const groups = new Map<string, Result[]>();
    for (const result of results) {
        const group = `${result.kind} ${result.network}`;
        groups.set(group, [...(groups.get(group) ?? []), result]);
    }
    const row = (kind: string, denied: string, those: readonly Result[]) => [
        kind,
        denied,
        String(those.length),
        ...outcomes.map((outcome) => countOf(those, (result) => result.outcome === outcome)),
        countOf(those, ({ problems }) => problems.length > 0),
        countOf(those, ({ leftovers }) => leftovers.length > 0),
        median(those.map(({ seconds }) => seconds)).toFixed(1),
    ];
    const each = [...groups.values()].map((group) => row(group[0]!.kind, group[0]!.network, group));
    return [...each, row("all", "", results)];
}

/** Zero is not shown: what is there stands out. */
function countOf(results: readonly Result[], counts: (result: Result) => boolean): string {
    const count = results.filter(counts).length;
    return count === 0 ? "" : String(count);
}

/** The table for a terminal, with what was wrong below. */
export function textTable(results: readonly Result[]): string {
    if (results.length === 0) return "No results.";
    const all = [heads, ...rows(results)];
    const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
    const right = (cell: string, column: number) => (column < rightFrom ? cell : cell.padStart(widths[column]!));
    return [...alignedRows(all.map((row) => row.map(right))), ...wrong(results)].join("\n");
}

/** The table for a page, with what was wrong below. */
export function markdownTable(results: readonly Result[]): string {
    if (results.length === 0) return "No results.";
    const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
    const rule = heads.map((_, column) => (column < rightFrom ? "---" : "---:"));
    const list = wrong(results).map((text) => (text === "" ? "" : `- ${text}`));
    return [heads, rule, ...rows(results)].map(line).concat(list).join("\n");
}

function wrong(results: readonly Result[]): string[] {
    const those = results.filter((result) => !isRight(result));
    return those.length === 0 ? [] : ["", ...those.map((result) => `${keyOf(result)}: ${describeWrong(result)}`)];
}

/** Why a trial is wrong. */
export function describeWrong({ problems, leftovers }: Pick<Result, "problems" | "leftovers">): string {
    const left = leftovers.length === 0 ? [] : [`left after 5 s: ${leftovers.join(", ")}`];
    return [...problems, ...left].join("; ").replaceAll(/\s+/g, " ");
}

/** A trial in a line. */
export function describeResult(result: Result): string {
    const { round, kind, network, outcome, expected, seconds, seed, saw } = result;
    const words = [
        isRight(result) ? "right" : "WRONG",
        `round ${round}`,
        kind.padEnd(16),
        network.padEnd(6),
        `${outcome} (expected: ${expected})`.padEnd(49),
        `${seconds.toFixed(1).padStart(5)} s`,
        `seed ${seed}`,
        ...(saw === "" ? [] : [saw]),
    ];
    return words.join("  ") + (isRight(result) ? "" : `\n       ${describeWrong(result)}`);
}
