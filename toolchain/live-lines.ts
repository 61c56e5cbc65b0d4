import { createLogUpdate } from "log-update";

/** Prints lines; on a terminal, shows live ones below them. */
export class LiveLines {
    private readonly live?: ReturnType<typeof createLogUpdate>;
    private shown = "";

    constructor(protected readonly stream: NodeJS.WriteStream) {
        if (stream.isTTY && !process.env.CI) this.live = createLogUpdate(stream);
    }

    /** Whether live lines are shown: not in a log. */
    get isLive(): boolean {
        return this.live !== undefined;
    }

    readonly print = (line: string): void => {
        this.live?.clear();
        this.stream.write(`${line}\n`);
        if (this.shown) this.live?.(this.shown);
    };

    /** Replaces the live lines; without any it removes them. */
    show(lines: readonly string[]): void {
        this.shown = lines.join("\n");
        if (this.shown) this.live?.(this.shown);
        else this.live?.clear();
    }
}
