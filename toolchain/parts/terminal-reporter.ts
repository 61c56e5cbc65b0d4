import type { ListrTaskWrapper } from "listr2" with { "resolution-mode": "import" };
import { PlanClock, spoken } from "./estimate";
import { type PartsReporter, plainReporter } from "./reporter";

/** A live list on a terminal, plain lines in a log. */
export async function reporterFor(stream: NodeJS.WriteStream = process.stderr): Promise<PartsReporter> {
    if (!stream.isTTY || process.env.CI) return plainReporter((line) => stream.write(`${line}\n`));
    return terminalReporter(stream);
}

/** Shows the builds as a live list: finished ones, the current one with its duration, the time left. */
async function terminalReporter(stream: NodeJS.WriteStream): Promise<PartsReporter> {
    // An ES module, and only a terminal needs it.
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
        waiting: (pid) => stream.write(`Another process (${pid}) is building; waiting for it\n`),
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
            // All wait concurrently for their turn; the current one shows its duration.
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
            // Builds that did not begin.
            for (const turn of turns.slice(clock.done)) turn.reject(new Error("not begun"));
            await shown;
        },
    };
}

/** A build's place in the list. */
interface Turn {
    readonly over: Promise<void>;
    resolve(): void;
    reject(reason: Error): void;
}

function newTurn(): Turn {
    let [resolve, reject]: [() => void, (reason: Error) => void] = [() => undefined, () => undefined];
    const over = new Promise<void>((onDone, onFailure) => ([resolve, reject] = [onDone, onFailure]));
    over.catch(() => undefined); // The list shows it; the caller gets the error itself.
    return { over, resolve, reject };
}
