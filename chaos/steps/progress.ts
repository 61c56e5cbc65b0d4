import { appendFileSync } from "node:fs";
import type { Answer } from "../checks/answer";
import type { StepContext } from "./contract";

const everyMs = 5_000;

/**
 * Tells the person who watches how many answers were good and bad so far, every five seconds. Also appends each answer
 * to a file, if a program wants to show them.
 */
export class AnswerProgress {
    private good = 0;
    private bad = 0;
    private toldAt = Date.now();

    /** @param several whether the answers are of several checks: then a problem names its check */
    constructor(
        private readonly context: StepContext,
        private readonly several: boolean,
    ) {}

    async count(check: string, asked: Promise<Answer>): Promise<Answer> {
        const answer = await asked;
        const { say, answersFile } = this.context;
        if (answersFile) appendFileSync(answersFile, `${JSON.stringify({ check, ...answer })}\n`);
        this[answer.good ? "good" : "bad"]++;
        if (Date.now() - this.toldAt >= everyMs) {
            this.toldAt = Date.now();
            const problem = answer.problem && `; ${this.several ? `${check}: ` : ""}${answer.problem}`;
            say(`${this.good} good, ${this.bad} bad${problem ?? ""}`);
        }
        return answer;
    }
}
