import { type NodeReporter, stderrReporter } from "./progress";

/** Shows the progress of work: a live list on a terminal, plain lines in a log. */
export async function withProgress<T>(work: (reporter: NodeReporter) => Promise<T>): Promise<T> {
    if (!process.stderr.isTTY || process.env.CI) return work(stderrReporter());
    const reporter = await terminalReporter();
    // The list must end before other output.
    return work(reporter).finally(() => reporter.end());
}

/** Shows the steps as a live list: finished ones with their duration, details below the current one. */
async function terminalReporter() {
    // An ES module, and only a terminal needs it.
    const { Listr } = await import("listr2");
    let current: Step | undefined;
    const finish = async (): Promise<void> => {
        const step = current;
        current = undefined;
        step?.end();
        await step?.shown;
    };
    // Each step is a list of one; the next waits until the previous one is drawn.
    let turn = Promise.resolve();
    return {
        step(title: string) {
            turn = turn.then(async () => {
                await finish();
                const startedMs = Date.now();
                let end: () => void = () => undefined;
                const over = new Promise<void>((resolve) => (end = resolve));
                const step: Step = { end, shown: Promise.resolve(undefined) };
                step.shown = new Listr([
                    {
                        title,
                        task: async (_, wrapper) => {
                            step.wrapper = wrapper;
                            await over;
                            wrapper.title = `${title}: ${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
                        },
                    },
                ]).run();
                current = step;
            });
        },
        detail(text: string) {
            turn = turn.then(() => {
                if (current?.wrapper) current.wrapper.output = text;
            });
        },
        async end() {
            await turn;
            await finish();
        },
    };
}

interface Step {
    wrapper?: { output?: string };
    readonly end: () => void;
    shown: Promise<unknown>;
}
