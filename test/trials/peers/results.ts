import type { Seen } from "./ask";
import type { Question } from "./questions";
import { tableOf, withPart } from "../../../docs/markdown";

/** One answer, as a line of the results' file. */
export interface PeerResult extends Seen {
    question: string;
    tool: string;
    /** See `commitOf`. */
    commit: string;
    /** When it ended: ISO 8601. */
    at: string;
}

/** The last result of each tool for each question. */
function lastOf(results: readonly PeerResult[]): Map<string, PeerResult> {
    return new Map(results.map((result) => [`${result.question} ${result.tool}`, result]));
}

/** A row for each question, a column for each tool. */
export function peersTable(questions: readonly Question[], results: readonly PeerResult[]): string {
    const last = lastOf(results);
    const tools = [...new Set(results.map(({ tool }) => tool))].sort();
    const rows = questions.map(({ name, trouble, truth }) => {
        const told = tools.map((tool) => last.get(`${name} ${tool}`));
        const seconds = told.map((result) => result?.seconds.toFixed(0) ?? "–").join(", ");
        const isTold = told.some((result) => result !== undefined);
        return [trouble, isTold ? `${truth} (${seconds} s)` : truth, ...told.map(cellOf)];
    });
    return tableOf([["trouble", "what is true", ...tools], ...rows]);
}

function cellOf(result: PeerResult | undefined): string {
    if (result === undefined) return "–";
    const { words, mark, hint } = result;
    if (mark === "right") return words;
    return `**${words}: ${mark === "wrong" ? "wrong**" : `partly right**, since it prints “${hint!}”`}`;
}

/** When and at which commits the answers of the table were given: one that is not asked again stays in it. */
export function describeAsked(questions: readonly Question[], results: readonly PeerResult[]): string {
    const shown = [...lastOf(results).values()].filter((one) => questions.some(({ name }) => name === one.question));
    const days = [...new Set(shown.map(({ at }) => at.slice(0, 10)))].sort();
    const commits = [...new Set(shown.map(({ commit }) => `\`${commit}\``))];
    const when = days.length > 1 ? `from ${days[0]} to ${days.at(-1)}` : `on ${days[0]}`;
    return `Asked ${when}, at ${commits.length > 1 ? "commits" : "commit"} ${commits.join(", ")}.\n`;
}

export const withPeersTable = (page: string, table: string): string =>
    withPart(page, "The table", table, "npm run trials -- --peer chaostoolkit --write");

export function describePeerResult({ mark, question, tool, words, seconds, hint }: PeerResult): string {
    const told = [mark.padEnd(6), question.padEnd(18), `${tool}:`, words, `(the attack lasted ${seconds} s)`];
    return [...told, ...(hint === undefined ? [] : [`“${hint}”`])].join(" ");
}
