import type { Session } from "./session";

/** Ctrl-C, or a signal to end: cancels the update that runs, once; whoever runs it then undoes what it began. */
export class Interruption {
    happened = false;

    constructor(session: Session, print: (line: string) => void) {
        const onSignal = (signal: NodeJS.Signals) => {
            if (this.happened) return print("Still undoing it. Should this be killed now, the attack ends by itself at its deadline (experiment.deadline).");
            this.happened = true;
            print("\nInterrupted: the update is cancelled and the experiment undone; please wait.");
            // Ctrl-C in a terminal reaches the engine by itself, and twice would make it end in the middle of things.
            if (signal !== "SIGINT" || !process.stdin.isTTY) session.cancel();
        };
        process.on("SIGINT", onSignal).on("SIGTERM", onSignal);
    }
}
