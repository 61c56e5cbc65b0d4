import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "./answer";

/** Gives a way to ask for how many milliseconds this machine has slept since: one of its clocks stands still then. */
export function sleptSince(): () => number {
    const apart = () => Date.now() - performance.now();
    const before = apart();
    return () => apart() - before;
}

/**
 * Asks at a steady rate: at every whole interval since the beginning, whether or not the answers before have come, so
 * that slow answers do not make the check ask less.
 *
 * @param ask one request; never fails
 * @returns all answers, in the order of asking
 */
export async function askThrough(ask: () => Promise<Answer>, lengthMs: number, intervalMs: number): Promise<Answer[]> {
    const begun = performance.now();
    const answers: Promise<Answer>[] = [];
    for (let due = 0; due < lengthMs; due += intervalMs) {
        const wait = begun + due - performance.now();
        if (wait > 0) await sleep(wait);
        answers.push(ask());
    }
    const rest = begun + lengthMs - performance.now();
    if (rest > 0) await sleep(rest);
    return Promise.all(answers);
}
