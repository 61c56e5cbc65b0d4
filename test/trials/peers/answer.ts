import { stripVTControlCharacters } from "node:util";
import type { Ended } from "../../../bench/peers/run-to-end";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { verdictAndCode } from "../../../chaos/values/reasons";
import type { Question, Said } from "./questions";

export interface Answer {
    said: Said;
    /** The tool's own words: its verdict or status. */
    words: string;
    /** A line of its output that a careful reader learns more from. */
    hint?: string;
}

/** `partly`: what it said is wrong, but a line of its output says why. */
export type Mark = "right" | "partly" | "wrong";

/** @param seconds for which the attack lasted */
export function markOf({ right }: Pick<Question, "right">, seconds: number, { said, hint }: Answer): Mark {
    if (said === right(seconds)) return "right";
    return hint === undefined ? "wrong" : "partly";
}

type Told = Pick<Conclusion, "verdict" | "code" | "reason" | "established">;

/** @param told the output; an update whose run is ABORTED fails, and leaves none */
export function answerOfOurs(told: Told | undefined, { code, printed }: Ended): Answer {
    if (told === undefined) {
        const aborted = /ABORTED \([\w-]+\)/.exec(printed)?.[0] ?? "no verdict";
        return { said: "nothing", words: `${aborted}, exit ${code}` };
    }
    const said = { PASSED: "passed", FAILED: "failed", INCONCLUSIVE: "nothing", ABORTED: "nothing" } as const;
    const survived = told.established?.find(({ became }) => became.startsWith("survived"));
    const hint = survived && `Established connections (${survived.direction}): ${survived.became}`;
    return { said: said[told.verdict], words: verdictAndCode(told), ...(hint && { hint }) };
}

interface SteadyState {
    probes: { activity: { name: string }; tolerance_met?: boolean }[];
}

/** What is read of Chaos Toolkit's journal. */
export interface Journal {
    status: string;
    deviated: boolean;
    steady_states: { before?: SteadyState | null; during?: SteadyState[]; after?: SteadyState | null };
}

/** A deviation that another probe saw than that of `/products` says nothing of the application. */
export function answerOfChaosToolkit(journal: Journal | undefined, { code, printed }: Ended): Answer {
    if (journal === undefined) return { said: "nothing", words: `no journal, exit ${code}` };
    const { status, deviated, steady_states: states } = journal;
    const all = [states.before, ...(states.during ?? []), states.after].flatMap((state) => state?.probes ?? []);
    const failed = [...new Set(all.filter(({ tolerance_met: met }) => !met).map(({ activity }) => activity.name))];
    const words = `\`${deviated ? "deviated" : status}\`, exit ${code}`;
    if (deviated && failed.includes("products-are-listed")) return { said: "failed", words };
    if (deviated || code !== 0) return { said: "nothing", words: `${words}: ${failed.join(", ")}` };
    const hint = /(?:ERROR|CRITICAL)\] (.*)/.exec(stripVTControlCharacters(printed))?.[1]?.trim();
    return { said: "passed", words, ...(hint && { hint }) };
}
