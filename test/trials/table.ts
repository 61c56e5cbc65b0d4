import { median } from "../../bench/figure";
import { groupedBy } from "../../chaos/values/grouped";
import { alignedRows } from "../../chaos/values/aligned";
import type { Outcome } from "./kind";
import { describePlace } from "./place";
import { isRight, keyOf, type Result } from "./results";

const outcomes: readonly Outcome[] = ["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED", "none"];
const heads = ["kind", "denied", "trials", ...outcomes, "wrong", "left", "median s"];
/** The columns of numbers. */
const rightFrom = 2;

/** A row for each kind and what the network did, and one for all, as cells of text. */
function rows(results: readonly Result[]): string[][] {
    const row = (kind: string, denied: string, those: readonly Result[]) => [
        kind,
        denied,
        String(those.length),
        ...outcomes.map((outcome) => countOf(those, (result) => result.outcome === outcome)),
        countOf(those, ({ problems }) => problems.length > 0),
        countOf(those, ({ leftovers }) => leftovers.length > 0),
        median(those.map(({ seconds }) => seconds)).toFixed(1),
    ];
    const groups = groupedBy(results, ({ kind, denied }) => `${kind} ${denied}`);
    const each = [...groups.values()].map((group) => row(group[0]!.kind, group[0]!.denied, group));
    return [...each, row("all", "", results)];
}

/** Zero is not shown: what is there stands out. */
function countOf(results: readonly Result[], counts: (result: Result) => boolean): string {
    const count = results.filter(counts).length;
    return count === 0 ? "" : String(count);
}

/** The table of one network for a terminal, with what was wrong below. */
export function textTable(results: readonly Result[]): string {
    if (results.length === 0) return "No results.";
    const all = [heads, ...rows(results)];
    const widths = heads.map((_, column) => Math.max(...all.map((row) => row[column]!.length)));
    const right = (cell: string, column: number) => (column < rightFrom ? cell : cell.padStart(widths[column]!));
    return [...alignedRows(all.map((row) => row.map(right))), ...wrong(results)].join("\n");
}

/**
 * The table of all networks for a page, with what was wrong below: a row for each kind, a column for each network and
 * what it did with denied traffic. A column has only results of its last commit.
 */
export function markdownTable(results: readonly Result[]): string {
    if (results.length === 0) return "No results.";
    const columns = [...groupedBy(results, columnOf)]
        .sort(([a], [b]) => a.localeCompare(b))
        .map(([head, all]) => ({ head, those: all.filter(({ commit }) => commit === all.at(-1)!.commit) }));
    const row = (name: string, cell: (those: readonly Result[]) => string) => [
        name,
        ...columns.map(({ those }) => cell(those)),
    ];
    const shown = columns.flatMap(({ those }) => those);
    const seconds = (those: readonly Result[]) => median(those.map((result) => result.seconds)).toFixed(1);
    const table = [
        ["kind", ...columns.map(({ head }) => head)],
        ["---", ...columns.map(() => "---")],
        ...[...new Set(shown.map(({ kind }) => kind))].map((kind) =>
            row(kind, (those) => describeOutcomes(those.filter((result) => result.kind === kind))),
        ),
        row("all", (those) => [`${those.filter(isRight).length} right`, ...describeFaults(those)].join(", ")),
        row("median s", seconds),
        row("commit", ([first]) => first!.commit),
    ];
    const list = wrong(shown).map((text) => (text === "" ? "" : `- ${text}`));
    return [...table.map((cells) => `| ${cells.join(" | ")} |`), ...list].join("\n");
}

const columnOf = (result: Result) => `${describePlace(result)}, ${result.denied}`;

/** `1 FAILED, 1 INCONCLUSIVE, 1 wrong`. Empty if there was no trial. */
function describeOutcomes(results: readonly Result[]): string {
    const counts = outcomes.flatMap((outcome) =>
        counted(
            results.filter((result) => result.outcome === outcome),
            outcome,
        ),
    );
    return [...counts, ...describeFaults(results)].join(", ");
}

function describeFaults(results: readonly Result[]): string[] {
    return [
        ...counted(
            results.filter(({ problems }) => problems.length > 0),
            "wrong",
        ),
        ...counted(
            results.filter(({ leftovers }) => leftovers.length > 0),
            "left",
        ),
    ];
}

const counted = (those: readonly Result[], what: string) => (those.length === 0 ? [] : [`${those.length} ${what}`]);

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
    const { round, kind, denied, outcome, expected, seconds, seed, saw } = result;
    const words = [
        isRight(result) ? "right" : "WRONG",
        `round ${round}`,
        kind.padEnd(16),
        describePlace(result),
        denied.padEnd(6),
        `${outcome} (expected: ${expected})`.padEnd(49),
        `${seconds.toFixed(1).padStart(5)} s`,
        `seed ${seed}`,
        ...(saw === "" ? [] : [saw]),
    ];
    return words.join("  ") + (isRight(result) ? "" : `\n       ${describeWrong(result)}`);
}
