import type { Bound } from "../kinds/checks/confidence";
import { type ReasonCode, sentenceOf } from "../values/reasons";
import { judgeChecks } from "./judged-check";
import { reasonsOfOneCheck, type Verdict, verdicts } from "./verdict";
import type { Journal } from "./journal-schema";

export interface ReportedRun {
    experiment: string;
    /** What the run saw. Absent if it ended without a verdict. */
    journal?: Journal;
    /** @default the journal's own */
    path?: string;
    /** Its name. @default the journal's. Absent if that is not known */
    run?: string;
    /** Why it ended without a verdict. */
    error?: string;
    /** Why its attack could not be undone. */
    notUndone?: string;
    /** When it began, in milliseconds since the epoch. */
    startedAt: number;
    durationMs: number;
}

export type Result = Verdict | typeof noVerdict;
export const noVerdict = "no verdict";

export function runOfJournal(journal: Journal, path = journal.conclusion.journal): ReportedRun {
    const { startedAt, endedAt, conclusion } = journal;
    // The clock may have been set back meanwhile.
    return { experiment: conclusion.name, journal, path, startedAt, durationMs: Math.max(0, endedAt - startedAt) };
}

export const resultOf = ({ journal }: ReportedRun): Result => journal?.conclusion.verdict ?? noVerdict;

export const reasonOf = ({ journal, error }: ReportedRun): string =>
    journal?.conclusion.reason ?? `The run ended without a verdict: ${error || "no reason is known"}`;

export const codeOf = ({ journal }: ReportedRun): ReasonCode | undefined => journal?.conclusion.code;

/** Whether a run proved what it was made for, and left nothing behind. */
export const hasPassed = (run: ReportedRun): boolean => resultOf(run) === "PASSED" && run.notUndone === undefined;

/** The page is beside the journal. Undefined without a journal. */
export const pageOf = ({ path }: ReportedRun): string | undefined => path?.replace(/json$/, "html");

export function countResults(runs: readonly ReportedRun[]): string {
    const counts = [...verdicts, noVerdict].map((result) => ({
        result,
        count: runs.filter((run) => resultOf(run) === result).length,
    }));
    const told = counts.filter(({ count }) => count > 0).map(({ result, count }) => `${count} ${result}`);
    return told.join(", ") || "no runs";
}

/**
 * Gives each run a name that is unique in the report: the experiment's, and from its second run on with a number. Later
 * reports use the same names, so readers can compare them.
 */
export function named<Run extends ReportedRun>(runs: readonly Run[]): (Run & { name: string })[] {
    const runsOf = new Map<string, number>();
    return runs.map((run) => {
        const number = (runsOf.get(run.experiment) ?? 0) + 1;
        runsOf.set(run.experiment, number);
        return { ...run, name: number === 1 ? run.experiment : `${run.experiment} (${number})` };
    });
}

export interface CheckResult {
    name: string;
    held?: boolean;
    /** What its answers show, if that is known. */
    bound?: Bound;
    /** Why that is unknown. */
    code?: ReasonCode;
    /** Why, in a sentence. */
    reason: string;
    /** From its first to its last answer. */
    durationMs: number;
}

/** The result of each check of a run, even if the conclusion leaves it out because nothing is known of it. */
export function checksOf(journal: Journal): CheckResult[] {
    const { conclusion } = journal;
    return judgeChecks(journal).map(({ name, answers, reason, inconclusive }) => {
        const [first, last] = [answers[0], answers.at(-1)];
        const durationMs = first && last ? Math.max(0, last.at + last.latencyMs - first.at) : 0;
        const concluded = conclusion.checks.find((check) => check.name === name);
        if (concluded) return { name, held: concluded.held, bound: concluded.bound, reason, durationMs };
        // Most reasons of INCONCLUSIVE are about all checks, and FAILED leaves out single ones.
        const isOfOne = conclusion.verdict === "FAILED" || reasonsOfOneCheck.some((code) => code === conclusion.code);
        const why = isOfOne ? inconclusive : undefined;
        const sentence = why ? sentenceOf(why) : conclusion.reason;
        const code = why ? why.code : conclusion.code;
        return { name, code, reason: `It is unknown whether the check held: ${sentence}`, durationMs };
    });
}
