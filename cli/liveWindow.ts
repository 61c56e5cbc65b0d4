import { createLogUpdate } from "log-update";
import { styleText } from "node:util";
import type { Answer } from "../experiments/checks/answer";
import type { SeenAnswer } from "./answersFile";

/**
 * Where a run is watched: lines that stay, and below them, in a terminal, a strip of the latest answers to each check
 * with their counts, which runs along. Elsewhere the lines alone.
 */
export class LiveWindow {
    private readonly strip?: ReturnType<typeof createLogUpdate>;
    private shown = "";

    constructor(private readonly stream: NodeJS.WriteStream) {
        if (stream.isTTY) this.strip = createLogUpdate(stream);
    }

    readonly print = (line: string): void => {
        this.strip?.clear();
        this.stream.write(`${line}\n`);
        if (this.shown) this.strip?.(this.shown);
    };

    /** Shows answers instead of those that were shown; none takes the strips away. */
    show(answers: readonly SeenAnswer[]): void {
        this.shown = stripsOf(answers, this.stream.columns).join("\n");
        if (this.shown) this.strip?.(this.shown);
        else this.strip?.clear();
    }
}

/** A strip for each check, with its name where there are several. */
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

/** Good answers low and green, bad ones high and red, the latest on the right; then how many there were of each. */
function stripOf(answers: readonly Answer[], columns: number, name: string): string {
    const good = answers.filter((answer) => answer.good).length;
    const counts = `  ${good} good, ${answers.length - good} bad${name}`;
    const marks = answers
        .slice(-Math.max(10, columns - counts.length - 4))
        .map((answer) => (answer.good ? styleText("green", "▂") : styleText("red", "█")));
    return `  ${marks.join("")}${counts}`;
}
