import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { styleText } from "node:util";
import type { Answer } from "../chaos/kinds/checks/answer";
import { variables } from "../chaos/run/contract";
import { LiveLines } from "../toolchain/live-lines";

const lookEveryMs = 200;

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

    private read(): SeenAnswer[] {
        const lines = readFileSync(this.file, "utf8").split("\n").slice(0, -1);
        return lines.map((line) => JSON.parse(line) as SeenAnswer);
    }
}

/**
 * Shows a run: lines of text, and in a terminal below them a strip for each check, with its latest answers and their
 * counts.
 */
export class LiveWindow extends LiveLines {
    /** Replaces the shown answers. Without answers it removes the strips. */
    showAnswers(answers: readonly SeenAnswer[]): void {
        this.show(stripsOf(answers, this.stream.columns));
    }
}

/** A strip for each check, with its name if there are several checks. */
export function stripsOf(answers: readonly SeenAnswer[], columns = 80): string[] {
    const names = [...new Set(answers.map(({ check }) => check))].sort();
    const answersOf = (name: string) => answers.filter(({ check }) => check === name);
    return names.map((name) => stripOf(answersOf(name), columns, names.length > 1 ? `  ${name}` : ""));
}

/** Good answers are low and green, bad ones high and red, the latest on the right. Then the counts. */
function stripOf(answers: readonly Answer[], columns: number, name: string): string {
    const good = answers.filter((answer) => answer.good).length;
    const counts = `  ${good} good, ${answers.length - good} bad${name}`;
    const marks = answers
        .slice(-Math.max(10, columns - counts.length - 4))
        .map((answer) => (answer.good ? styleText("green", "▂") : styleText("red", "█")));
    return `  ${marks.join("")}${counts}`;
}
