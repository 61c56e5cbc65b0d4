import { describeMilliseconds } from "../shared/duration";
import type { Answer } from "./checks/answer";
import { kindOfCheck } from "./checks/check";
import type { PlannedCheck } from "./plan";

/**
 * PASSED: the hypothesis held under a proven attack. FAILED: it did not hold, under a proven attack. INCONCLUSIVE:
 * the attack could not be proven, or the shop not looked at, so nothing is known. ABORTED: there was no steady state,
 * nothing was attacked.
 */
export const verdicts = ["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED"] as const;
export type Verdict = (typeof verdicts)[number];

/** What answers under attack amount to. Times are milliseconds since the attack took hold. */
export interface Measured {
    /** All answers, those within the grace too. */
    requests: number;
    /** Answers after the grace, which alone are counted. */
    counted: number;
    /** Share of good answers among the counted, from 0 to 1. */
    successRate: number;
    /** Share of the counted that say nothing of the shop, and are no good ones. */
    unseenRate: number;
    /** Undefined where no answer was bad. */
    firstFailureMs?: number;
    /** From when on all answers were good, up to the end; undefined where the last one was bad, or there was none. */
    stableAfterMs?: number;
}

/** What one check's answers amount to. @param answers in the order of asking */
export function measure(answers: readonly Answer[], attackedAt: number, graceMs: number): Measured {
    const counted = answers.filter(({ at }) => at >= attackedAt + graceMs);
    const share = (part: readonly Answer[]) => (counted.length === 0 ? 0 : part.length / counted.length);
    const firstBad = answers.find((answer) => !answer.good);
    const lastBad = answers.findLastIndex((answer) => !answer.good);
    const stable = lastBad === -1 && answers.length > 0 ? attackedAt : answers[lastBad + 1]?.at;
    return {
        requests: answers.length,
        counted: counted.length,
        successRate: share(counted.filter(({ good }) => good)),
        unseenRate: share(counted.filter(({ unseen }) => unseen)),
        firstFailureMs: firstBad && firstBad.at - attackedAt,
        stableAfterMs: stable === undefined ? undefined : stable - attackedAt,
    };
}

/** What several checks amount to together: stable once the last of them was. */
export function together(measured: readonly Measured[]): Measured {
    const sum = (of: (one: Measured) => number) => measured.reduce((total, one) => total + of(one), 0);
    const failures = measured.flatMap(({ firstFailureMs }) => firstFailureMs ?? []);
    const counted = sum((one) => one.counted);
    const rate = (of: (one: Measured) => number) => (counted === 0 ? 0 : sum((one) => of(one) * one.counted) / counted);
    return {
        requests: sum((one) => one.requests),
        counted,
        successRate: rate((one) => one.successRate),
        unseenRate: rate((one) => one.unseenRate),
        firstFailureMs: failures.length === 0 ? undefined : Math.min(...failures),
        stableAfterMs: measured.some(({ stableAfterMs }) => stableAfterMs === undefined)
            ? undefined
            : Math.max(...measured.map(({ stableAfterMs }) => stableAfterMs!)),
    };
}

/** What one check came to: whether it held, and the sentence that says so to a person. */
export interface Judged {
    name: string;
    held: boolean;
    measured: Measured;
    reason: string;
    /** Why nobody knows whether it held: it would have, or not, as those answers were that say nothing of the shop. */
    doubt?: string;
}

export function judgeCheck(
    { name, check, successRate }: PlannedCheck,
    answers: readonly Answer[],
    attackedAt: number,
    graceMs: number,
): Judged {
    const measured = measure(answers, attackedAt, graceMs);
    const asked = percent(successRate);
    const got = `${percent(measured.successRate)} of ${measured.counted} counted ${kindOfCheck(check).describeGood(check)}`;
    if (measured.successRate >= successRate) {
        const stability =
            measured.firstFailureMs === undefined
                ? "not one failed"
                : `stable ${describeMilliseconds(measured.stableAfterMs ?? 0)} after the attack began`;
        return {
            name,
            held: true,
            measured,
            reason: `${got} under attack, and ${asked} were asked for; ${stability}.`,
        };
    }
    const example = answers.findLast((answer) => !answer.good)?.problem ?? "no answer";
    const reason = `Only ${got} under attack, where ${asked} were asked for; the last failure: ${example}`;
    const atBest = measure(
        answers.map((answer) => (answer.unseen ? { ...answer, good: true } : answer)),
        attackedAt,
        graceMs,
    );
    if (atBest.successRate < successRate) return { name, held: false, measured, reason };
    return {
        name,
        held: false,
        measured,
        reason,
        doubt: `to ${percent(measured.unseenRate)} of what ${name} asked the API server did not answer`,
    };
}

/** Whether the hypothesis held, which takes each of its checks, and why: of checks that did not hold, those alone are told. */
export function judge(checks: readonly Judged[]): { verdict: "PASSED" | "FAILED"; reason: string } {
    const failed = checks.filter(({ held }) => !held);
    const told = failed.length > 0 ? failed : checks;
    return {
        verdict: failed.length > 0 ? "FAILED" : "PASSED",
        reason: told.map(({ reason }) => reason.replace(/(?<![.!?])$/, told.length > 1 ? "." : "")).join(" "),
    };
}

export function percent(share: number): string {
    // Rounded down: 99.96% must not read as 100%.
    return `${Math.floor(share * 1_000) / 10}%`;
}

/** A time of a conclusion for people: `1.4 s after the attack took hold`, or `never`. */
export function sinceAttack(milliseconds: number | null): string {
    return milliseconds === null ? "never" : `${describeMilliseconds(milliseconds)} after the attack took hold`;
}
