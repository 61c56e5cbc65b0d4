/** Updates of a stack, one after the other. */
export interface Cancelable {
    /**
     * Cancels the running update, if any. The next update can start at once.
     *
     * @param engineKnows whether a running engine received the signal, too
     */
    cancel(how: { engineKnows: boolean }): void;
}

/**
 * Handles SIGINT (Ctrl-C), SIGTERM and SIGHUP (a closed terminal): cancels the running update once. The program then
 * undoes the experiment.
 */
export class Interruption {
    private signals = 0;

    constructor(
        updates: Cancelable,
        private readonly print: (line: string) => void,
    ) {
        const onSignal = (signal: NodeJS.Signals) => {
            this.signals++;
            if (this.signals > 1)
                return print("Still undoing it. If you kill this program now, the attack ends at its deadline.");
            print("\nInterrupted: canceling the update and undoing the experiment; please wait.");
            // In a terminal, Ctrl-C and SIGHUP reach the engine, too. A second signal would make it exit at once.
            const inTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
            updates.cancel({ engineKnows: signal !== "SIGTERM" && inTerminal });
        };
        // Ctrl-C may end the reader of a pipe first: undoing continues without output.
        for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
        for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);
    }

    get happened(): boolean {
        return this.signals > 0;
    }

    /** @throws Error after an interruption: the program must not start anything else */
    check(): void {
        if (this.happened) throw new Error("interrupted");
    }

    /** Repeats work that an interruption cut short: in a terminal, each Ctrl-C also ends the engine. */
    async throughout(work: () => Promise<void>): Promise<void> {
        for (;;) {
            const before = this.signals;
            try {
                return await work();
            } catch (error) {
                if (this.signals === before) throw error;
                this.print("Interrupted while undoing: undoing it again.");
            }
        }
    }
}
