import { createLogUpdate } from "log-update";
import { styleText } from "node:util";
import type { Answer } from "../experiments/checks/products";

/**
 * Where a run is watched: lines that stay, and below them, in a terminal, a strip of the latest answers with their
 * counts, which runs along. Elsewhere the lines alone.
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

    /** Shows answers instead of those that were shown; none takes the strip away. */
    show(answers: readonly Answer[]): void {
        this.shown = answers.length === 0 ? "" : stripOf(answers, this.stream.columns);
        if (this.shown) this.strip?.(this.shown);
        else this.strip?.clear();
    }
}

/** Good answers low and green, bad ones high and red, the latest on the right; then how many there were of each. */
export function stripOf(answers: readonly Answer[], columns = 80): string {
    const good = answers.filter((answer) => answer.good).length;
    const counts = `  ${good} good, ${answers.length - good} bad`;
    const marks = answers.slice(-Math.max(10, columns - counts.length - 4)).map((answer) => (answer.good ? styleText("green", "▂") : styleText("red", "█")));
    return `  ${marks.join("")}${counts}`;
}
