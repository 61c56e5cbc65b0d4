import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Choices, type NetworkName, networkNames } from "../../node/choices";

type OfEachNetwork = Readonly<Record<NetworkName, string>>;

/** The table of facts in docs/networks.md. */
export interface NetworkTable {
    /** Each network's name and version. */
    heads: OfEachNetwork;
    /** The words for each fact, by the first cell of its row. */
    facts: ReadonlyMap<string, OfEachNetwork>;
}

/** @throws Error if the page has no such table, or the table has no column for a network */
function tableIn(markdown: string): NetworkTable {
    const lines = markdown.split("\n");
    const first = lines.findIndex((line) => /^\| *fact\b/.test(line));
    if (first === -1) throw new Error("docs/networks.md has no table that begins with the column `fact`");
    const [head, , ...rest] = lines.slice(first);
    const end = rest.findIndex((line) => !line.startsWith("|"));
    const rows = rest.slice(0, end === -1 ? undefined : end).map(cellsIn);
    const titles = cellsIn(head!);
    const columns = networkNames.map((name) => [name, columnOf(name, titles)] as const);
    const ofEach = (cells: string[]) =>
        Object.fromEntries(columns.map(([name, column]) => [name, cells[column] ?? ""])) as OfEachNetwork;
    return { heads: ofEach(titles), facts: new Map(rows.map((cells) => [cells[0]!, ofEach(cells)])) };
}

const cellsIn = (line: string) =>
    line
        .slice(1, line.lastIndexOf("|"))
        .split("|")
        .map((cell) => cell.trim());

/** By the first word of its head: the version follows. */
function columnOf(name: NetworkName, titles: readonly string[]): number {
    const column = titles.findIndex((title) => title.toLowerCase().split(" ")[0] === name);
    if (column === -1) throw new Error(`docs/networks.md has no column "${name}"`);
    return column;
}

export const networkTable = (): NetworkTable =>
    tableIn(readFileSync(join(__dirname, "..", "..", "..", "docs", "networks.md"), "utf8"));

/**
 * A cell for a network that drops, or that rejects what is denied: `time-out; with reject: refused` has both.
 *
 * @throws Error if there is no such row
 */
export function cellFor(
    { facts }: NetworkTable,
    fact: string,
    { network, denied }: Pick<Choices, "network" | "denied">,
): string {
    const cells = facts.get(fact);
    if (!cells) throw new Error(`docs/networks.md has no row "${fact}"`);
    const [usual, rejecting = usual] = cells[network].split("; with reject: ") as [string, string?];
    return denied === "reject" ? rejecting : usual;
}

/**
 * How a connection to a Service without endpoints ends.
 *
 * @throws Error if the page does not say it
 */
export function endWithoutEndpoints(chosen: Pick<Choices, "network" | "denied">): "refused" | "time-out" {
    const row = "a Service without endpoints";
    const cell = cellFor(networkTable(), row, chosen);
    if (cell !== "refused" && cell !== "time-out")
        throw new Error(`docs/networks.md, ${row}, ${chosen.network}: "${cell}"; allowed: refused, time-out`);
    return cell;
}
