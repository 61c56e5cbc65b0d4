import { appendFileSync } from "node:fs";
import type { Answer } from "../checks/answer";
import { answersFileVariable } from "../plan";
import { say } from "./step";

const everyMs = 5_000;

/**
 * Tells the person who watches of the answers: a line every five seconds, how many were good and bad so far. And each
 * answer at once, where somebody who watches the run has named a file for them.
 */
export class AnswerTeller {
    private readonly told = { good: 0, bad: 0, at: Date.now() };

    /** @param several whether answers are of several checks, so that a problem has to say whose it is */
    constructor(private readonly several: boolean) {}

    async tell(check: string, asked: Promise<Answer>): Promise<Answer> {
        const answer = await asked;
        const watcher = process.env[answersFileVariable];
        if (watcher) appendFileSync(watcher, `${JSON.stringify({ check, ...answer })}\n`);
        this.told[answer.good ? "good" : "bad"]++;
        if (Date.now() - this.told.at >= everyMs) {
            this.told.at = Date.now();
            const whose = this.several ? `${check}: ` : "";
            say(`${this.told.good} good, ${this.told.bad} bad${answer.problem ? `; ${whose}${answer.problem}` : ""}`);
        }
        return answer;
    }
}
