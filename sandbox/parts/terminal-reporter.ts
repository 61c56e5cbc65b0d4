import type { ListrTaskWrapper } from "listr2" with { "resolution-mode": "import" };
import { PlanClock, spoken } from "./estimate";
import type { PartsReporter } from "./reporter";

/** Shows the parts as a live list on a terminal: what is done, what goes on for how long, how much is left. */
export async function terminalReporter(stream: NodeJS.WriteStream): Promise<PartsReporter> {
    // Loaded here because it is an ES module, and only a terminal needs it.
    const { Listr } = await import("listr2");
    const clock = new PlanClock();
    let turns: Turn[] = [];
    const wrappers: ListrTaskWrapper<unknown, never, never>[] = [];
    let shown: Promise<unknown> = Promise.resolve();
    let ticking: NodeJS.Timeout | undefined;
    let current = -1;
    let lastLine = "";

    const tick = () => {
        const wrapper = wrappers[current];
        const title = clock.plan[current]?.title;
        if (!wrapper || !title) return;
        wrapper.title = `${title}: ${spoken(clock.currentSeconds())} so far; ${clock.left()}`;
        wrapper.output = lastLine;
    };
    return {
        waiting: (pid) => stream.write(`Another process (${pid}) is making parts of the sandbox; waiting for it\n`),
        begin(plan) {
            clock.begin(plan);
            turns = plan.map(newTurn);
            const tasks = plan.map(({ title }, index) => ({
                title,
                task: (_: unknown, wrapper: unknown) => {
                    wrappers[index] = wrapper as ListrTaskWrapper<unknown, never, never>;
                    return turns[index]?.over;
                },
            }));
            // All wait at once for their turn; which one is at work is told by its time.
            const rendererOptions = { collapseErrors: false };
            const list = new Listr(tasks, { concurrent: true, exitOnError: false, rendererOptions });
            shown = list.run().catch(() => undefined);
            ticking = setInterval(tick, 1000);
        },
        started(index) {
            current = index;
            lastLine = "";
            clock.start();
        },
        line: (text) => (lastLine = text),
        finished(index, seconds) {
            clock.finish(seconds);
            const wrapper = wrappers[index];
            if (wrapper) wrapper.title = `${clock.plan[index]?.title}: ${spoken(seconds)}`;
            turns[index]?.resolve();
        },
        failed: (index) => turns[index]?.reject(new Error("failed")),
        async end() {
            clearInterval(ticking);
            // Parts that never had their turn.
            for (const turn of turns.slice(clock.done)) turn.reject(new Error("not begun"));
            await shown;
        },
    };
}

/** A part's turn, over when somebody says so. */
interface Turn {
    readonly over: Promise<void>;
    resolve(): void;
    reject(reason: Error): void;
}

function newTurn(): Turn {
    let [resolve, reject]: [() => void, (reason: Error) => void] = [() => undefined, () => undefined];
    const over = new Promise<void>((onDone, onFailure) => ([resolve, reject] = [onDone, onFailure]));
    over.catch(() => undefined); // The list shows it; the caller hears of it by the error that is thrown to it.
    return { over, resolve, reject };
}
