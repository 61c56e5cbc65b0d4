import type { ListrTaskWrapper } from "listr2" with { "resolution-mode": "import" };
import type { NodeDisplay } from "./progress";

/** Shows the steps as a live list on a terminal: each with its time once it is over, details under the current one. */
export async function terminalNodeReporter(): Promise<NodeDisplay> {
    // Loaded here because it is an ES module, and only a terminal needs it.
    const { Listr } = await import("listr2");
    let current: Step | undefined;
    const finish = async (): Promise<void> => {
        const step = current;
        current = undefined;
        step?.end();
        await step?.shown;
    };
    // Steps come one by one, so each is a list of one; the next waits until the last has been drawn for good.
    let turn = Promise.resolve();
    return {
        step(title) {
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
                            step.wrapper = wrapper as unknown as ListrTaskWrapper<unknown, never, never>;
                            await over;
                            wrapper.title = `${title}: ${((Date.now() - startedMs) / 1000).toFixed(1)} s`;
                        },
                    },
                ]).run();
                current = step;
            });
        },
        detail(text) {
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
    wrapper?: ListrTaskWrapper<unknown, never, never>;
    readonly end: () => void;
    shown: Promise<unknown>;
}
