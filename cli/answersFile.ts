import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer } from "../experiments/checks/answer";
import { answersFileVariable } from "../experiments/plan";

const lookEveryMs = 200;

/** An answer, and the name of the check that it was given to. */
export type SeenAnswer = Answer & { check: string };

/**
 * Hands on each answer of the checks that run in an update of this process, as it comes: names them a file for them,
 * by the environment, which the engine and its plugins inherit.
 */
export class AnswersFile {
    private readonly folder = mkdtempSync(join(tmpdir(), "answers-"));
    private readonly file = join(this.folder, "answers.jsonl");
    private readonly clock: NodeJS.Timeout;

    constructor(onAnswers: (answers: readonly SeenAnswer[]) => void) {
        writeFileSync(this.file, "");
        process.env[answersFileVariable] = this.file;
        this.clock = setInterval(() => onAnswers(this.read()), lookEveryMs);
    }

    close(): void {
        clearInterval(this.clock);
        delete process.env[answersFileVariable];
        rmSync(this.folder, { recursive: true, force: true });
    }

    /** The lines that are whole. */
    private read(): SeenAnswer[] {
        const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
        return lines.map((line) => JSON.parse(line) as SeenAnswer);
    }
}
