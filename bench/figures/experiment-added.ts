import { readFileSync } from "node:fs";
import type { Journal } from "../../chaos/report/journal-schema";
import { describeSamples, type Figure, measureRounds, median } from "../figure";
import { runServers } from "../servers";
import type { BenchStack } from "../stack";
import { secondsSince } from "../time";

const rounds = 5;

export const experimentAdded: Figure = {
    name: "experiment-added",
    meaning:
        "time that an enabled Experiment of the package adds to an update, beyond the window and the waits that the " +
        "update's progress names",
    bar: 5,
    unit: "s",
    async measure(session) {
        await runServers(session, 3);
        const stack = await session.manyTargetsStack();
        const samples = await measureRounds(
            rounds,
            session,
            () => measureRound(stack),
            ({ added, enabled, unchanged, named }) =>
                `added ${added.toFixed(2)} s: ${enabled.toFixed(1)} s enabled, ${unchanged.toFixed(1)} s unchanged, ` +
                `${named.toFixed(1)} s of window and waits`,
        );
        const { added, enabled, unchanged, named } = samples;
        return {
            value: median(added),
            made:
                `enabled ${describeSamples(enabled)}, unchanged ${describeSamples(unchanged)}, ` +
                `window and waits ${describeSamples(named)}`,
            samples,
        };
    },
};

/**
 * An update that changes nothing, and one that enables the experiment, in seconds. `named` is how long the progress of
 * the second one says that it waits: for the deadline Job after the line of the targets, then in the check for the
 * proof, the window and the proof at its end.
 */
async function measureRound(stack: BenchStack) {
    const unchanged = await stack.up();
    await stack.set({ enabled: "true" });
    let chosenAt = Number.NaN;
    let witness = Number.NaN;
    const enabled = await stack.up((line) => {
        if (line.includes("Targets: ") && Number.isNaN(chosenAt)) chosenAt = performance.now();
        if (/-targets created/.test(line)) witness = secondsSince(chosenAt);
    });
    const { journal: path, verdict } = await stack.output<{ journal: string; verdict: string }>("conclusion");
    await stack.set({ enabled: "false" });
    await stack.up();
    if (verdict !== "PASSED") throw new Error(`the verdict was ${verdict} instead of PASSED; see ${path}`);
    const { startedAt, endedAt } = JSON.parse(readFileSync(path, "utf8")) as Journal;
    const named = witness + (endedAt - startedAt) / 1_000;
    return { added: enabled - unchanged - named, enabled, unchanged, named };
}
