import { styleText } from "node:util";
import type { Answer } from "../chaos/checks/answer";
import { LiveLines } from "../toolchain/live-lines";
import type { SeenAnswer } from "./answers-file";

/**
 * Shows a run: lines of text, and in a terminal below them a strip for each check, with its latest answers and their
 * counts.
 */
export class LiveWindow {
    private readonly lines: LiveLines;
    readonly print: (line: string) => void;

    constructor(private readonly stream: NodeJS.WriteStream) {
        this.lines = new LiveLines(stream);
        this.print = this.lines.print;
    }

    /** Replaces the shown answers. Without answers it removes the strips. */
    show(answers: readonly SeenAnswer[]): void {
        this.lines.show(stripsOf(answers, this.stream.columns));
    }
}

/** A strip for each check, with its name if there are several checks. */
export function stripsOf(answers: readonly SeenAnswer[], columns = 80): string[] {
    const names = [...new Set(answers.map(({ check }) => check))].sort();
    return names.map((name) =>
        stripOf(
            answers.filter(({ check }) => check === name),
            columns,
            names.length > 1 ? `  ${name}` : "",
        ),
    );
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
