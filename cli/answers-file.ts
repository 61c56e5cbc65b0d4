import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Answer } from "../chaos/checks/answer";
import { variables } from "../chaos/steps/contract";

const lookEveryMs = 200;

/** An answer and the name of its check. */
export type SeenAnswer = Answer & { check: string };

/**
 * Receives the answers of the checks that this process's updates run. The checks append them to a file, whose name they
 * get from the environment: the engine and its plugins inherit it.
 */
export class AnswersFile {
    private readonly folder = mkdtempSync(join(tmpdir(), "answers-"));
    private readonly file = join(this.folder, "answers.jsonl");
    private readonly clock: NodeJS.Timeout;

    constructor(onAnswers: (answers: readonly SeenAnswer[]) => void) {
        writeFileSync(this.file, "");
        process.env[variables.answersFile] = this.file;
        this.clock = setInterval(() => onAnswers(this.read()), lookEveryMs);
    }

    close(): void {
        clearInterval(this.clock);
        delete process.env[variables.answersFile];
        rmSync(this.folder, { recursive: true, force: true });
    }

    /** Parses the complete lines. */
    private read(): SeenAnswer[] {
        const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
        return lines.map((line) => JSON.parse(line) as SeenAnswer);
    }
}
