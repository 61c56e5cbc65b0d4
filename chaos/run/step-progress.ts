import { appendFileSync } from "node:fs";
import type { Answer } from "../kinds/checks/answer";
import type { StepContext } from "./contract";

/** Rarer with time: a window may last an hour, and Pulumi keeps what is told in the state. */
const pauseAfter = (elapsedMs: number) => Math.min(60_000, Math.max(5_000, elapsedMs / 12));

/**
 * Tells the person who watches how many answers were good and bad so far: every five seconds in the first minute, every
 * minute after twelve. Also appends each answer to a file, if a program wants to show them.
 */
export class AnswerProgress {
    private good = 0;
    private bad = 0;
    private readonly begunAt = Date.now();
    private toldAt = Date.now();

    /** @param several whether the answers are of several checks: then a problem names its check */
    constructor(
        private readonly context: StepContext,
        private readonly several: boolean,
    ) {}

    count(check: string, answer: Answer): void {
        const { say, answersFile } = this.context;
        if (answersFile) appendFileSync(answersFile, `${JSON.stringify({ check, ...answer })}\n`);
        this[answer.good ? "good" : "bad"]++;
        const now = Date.now();
        if (now - this.toldAt >= pauseAfter(now - this.begunAt)) {
            this.toldAt = now;
            const problem = answer.problem && `; ${this.several ? `${check}: ` : ""}${answer.problem}`;
            say(`${this.good} good, ${this.bad} bad${problem ?? ""}`);
        }
    }
}

/**
 * Prints what happens, as far as there is room: Pulumi gives all that a step has printed to the next command of its
 * resource, as a variable, and no process can be started with a longer one (`maxVariableLength`).
 *
 * @param room in bytes
 */
export function sayWithin(room: number, write: (line: string) => void): (message: string) => void {
    let left = room;
    return (message) => {
        const line = `${message}\n`;
        left -= Buffer.byteLength(line);
        if (left >= 0) write(line);
    };
}
