import type { Session } from "./session";

/** Ctrl-C, or a signal to end: cancels the update that runs, once; whoever runs it then undoes what it began. */
export class Interruption {
    private signals = 0;

    constructor(
        session: Session,
        private readonly print: (line: string) => void,
    ) {
        const onSignal = (signal: NodeJS.Signals) => {
            this.signals++;
            if (this.signals > 1)
                return print(
                    "Still undoing it. Should this be killed now, the attack ends by itself at its deadline (experiment.deadline).",
                );
            print("\nInterrupted: the update is cancelled and the experiment undone; please wait.");
            // Ctrl-C in a terminal reaches the engine by itself, and twice would make it end in the middle of things.
            const inTerminal = [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
            session.cancel({ engineKnows: signal === "SIGINT" && inTerminal });
        };
        // Whoever reads along may end first, by the same Ctrl-C: what is to be undone is undone all the same.
        for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
        process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
    }

    get happened(): boolean {
        return this.signals > 0;
    }

    /** @throws Error where it has happened: nothing is to be begun any more */
    check(): void {
        if (this.happened) throw new Error("interrupted");
    }

    /**
     * Does what must be done however impatient somebody is: Ctrl-C in a terminal reaches the engine each time, and has it end
     * before it is done. Then it is begun again.
     */
    async throughout(work: () => Promise<void>): Promise<void> {
        for (;;) {
            const before = this.signals;
            try {
                return await work();
            } catch (error) {
                if (this.signals === before) throw error;
                this.print("Cut short by that: undoing it again.");
            }
        }
    }
}
