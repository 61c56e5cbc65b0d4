import { describeMilliseconds } from "../shared/duration";
import type { Answer } from "./checks/products";
import type { Window } from "./plan";

/**
 * PASSED: the hypothesis held under a proven attack. FAILED: it did not hold, under a proven attack. INCONCLUSIVE:
 * the attack could not be proven, so nothing is known. ABORTED: there was no steady state, nothing was attacked.
 */
export const verdicts = ["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED"] as const;
export type Verdict = (typeof verdicts)[number];

/** What the answers of `/products` under attack amount to. Times are milliseconds since the attack took hold. */
export interface Measured {
    /** All requests, those within the grace too. */
    requests: number;
    /** Requests after the grace, which alone are counted. */
    counted: number;
    /** Share of good answers among the counted, from 0 to 1. */
    successRate: number;
    /** Undefined where no answer was bad. */
    firstFailureMs?: number;
    /** From when on all answers were good, up to the end; undefined where the last one was bad. */
    stableAfterMs?: number;
}

export function measure(answers: readonly Answer[], attackedAt: number, graceMs: number): Measured {
    const counted = answers.filter(({ at }) => at >= attackedAt + graceMs);
    const good = counted.filter((answer) => answer.good).length;
    const firstBad = answers.find((answer) => !answer.good);
    const lastBad = answers.findLastIndex((answer) => !answer.good);
    const stable = lastBad === -1 ? attackedAt : answers[lastBad + 1]?.at;
    return {
        requests: answers.length,
        counted: counted.length,
        successRate: counted.length === 0 ? 0 : good / counted.length,
        firstFailureMs: firstBad && firstBad.at - attackedAt,
        stableAfterMs: stable === undefined ? undefined : stable - attackedAt,
    };
}

/** Whether the hypothesis held, and the sentence that says so to a person. */
export function judge(measured: Measured, window: Window, answers: readonly Answer[]): { verdict: "PASSED" | "FAILED"; reason: string } {
    const asked = percent(window.successRate);
    const got = `${percent(measured.successRate)} of ${measured.counted} counted requests to /products were answered well`;
    if (measured.successRate >= window.successRate) {
        const stability = measured.firstFailureMs === undefined ? "not one failed" : `stable ${describeMilliseconds(measured.stableAfterMs ?? 0)} after the attack began`;
        return { verdict: "PASSED", reason: `${got} under attack, and ${asked} were asked for; ${stability}.` };
    }
    const example = answers.findLast((answer) => !answer.good)?.problem ?? "no answer";
    return { verdict: "FAILED", reason: `Only ${got} under attack, where ${asked} were asked for; the last failure: ${example}` };
}

export function percent(share: number): string {
    // Rounded down: 99.96% must not read as 100%.
    return `${Math.floor(share * 1_000) / 10}%`;
}

/** A time of a conclusion for people: `1.4 s after the attack took hold`, or `never`. */
export function sinceAttack(milliseconds: number | null): string {
    return milliseconds === null ? "never" : `${describeMilliseconds(milliseconds)} after the attack took hold`;
}
