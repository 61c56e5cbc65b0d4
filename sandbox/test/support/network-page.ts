import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type Choices, type NetworkName, networkNames } from "../../node/choices";

/** What a fact is with each network, in the words of docs/networks.md. */
export type Facts = ReadonlyMap<string, Readonly<Record<NetworkName, string>>>;

/** The rows of the page's table of facts, by their first cell. */
export function factsIn(markdown: string): Facts {
    const lines = markdown.split("\n");
    const head = lines.findIndex((line) => /^\| *fact\b/.test(line));
    if (head === -1) throw new Error("the page has no table that begins with the column `fact`");
    const rest = lines.slice(head + 2);
    const end = rest.findIndex((line) => !line.startsWith("|"));
    return new Map(
        rest.slice(0, end === -1 ? undefined : end).map((line) => {
            const [fact, ...cells] = line
                .slice(1, line.lastIndexOf("|"))
                .split("|")
                .map((cell) => cell.trim());
            return [fact!, Object.fromEntries(networkNames.map((name, column) => [name, cells[column]!]))];
        }),
    ) as unknown as Facts;
}

export const networkFacts = (): Facts =>
    factsIn(readFileSync(join(__dirname, "..", "..", "..", "docs", "networks.md"), "utf8"));

/** A cell for a network that drops, or that rejects what is denied: `time-out; with reject: refused` has both. */
export function cellFor(
    facts: Facts,
    fact: string,
    { network, denied }: Pick<Choices, "network" | "denied">,
): string | undefined {
    const [usual, rejecting = usual] = facts.get(fact)?.[network].split("; with reject: ") ?? [];
    return denied === "reject" ? rejecting : usual;
}
