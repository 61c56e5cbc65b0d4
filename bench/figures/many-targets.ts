import { readFileSync } from "node:fs";
import type { Journal } from "../../chaos/report/journal-schema";
import { describeSamples, type Figure, measureRounds, median, ratio } from "../figure";
import { runServers } from "../servers";
import type { BenchStack } from "../stack";

const rounds = 3;
/** A node takes 110 pods by default. */
const many = 100;
const windowSeconds = 3;

export const manyTargets: Figure = {
    name: "many-targets",
    meaning:
        `time of both updates of an experiment with ${many} targets, without window, proof and recovery, ` +
        "compared with one target",
    bar: 1.5,
    unit: "ratio",
    async measure(session) {
        await runServers(session, many);
        const stack = await session.manyTargetsStack();
        const samples = await measureRounds(
            rounds,
            session,
            async () => {
                const one = await measureRun(stack, "1");
                const all = await measureRun(stack, "all");
                return { one: one.work, all: all.work, oneWaits: one.waits, allWaits: all.waits };
            },
            ({ one, all, oneWaits, allWaits }) =>
                `one target ${one.toFixed(1)} s and ${oneWaits.toFixed(1)} s of waits, ` +
                `${many} targets ${all.toFixed(1)} s and ${allWaits.toFixed(1)} s`,
        );
        const whole = (work: number[], waits: number[]) => median(work.map((each, index) => each + waits[index]!));
        const wholeRatio = whole(samples.all, samples.allWaits) / whole(samples.one, samples.oneWaits);
        return {
            value: ratio(samples.all, samples.one),
            made:
                `${many} targets ${describeSamples(samples.all)}, one ${describeSamples(samples.one)}; ` +
                `with proof and recovery ${wholeRatio.toFixed(2)} times`,
            samples,
        };
    },
};

/** One run, in seconds: its proof and its recovery are `waits`, the rest of both updates beyond the window `work`. */
async function measureRun(stack: BenchStack, radius: string) {
    await stack.set({ enabled: "true", radius });
    const enable = await stack.up();
    const { journal: path, verdict } = await stack.output<{ journal: string; verdict: string }>("conclusion");
    await stack.set({ enabled: "false" });
    const disable = await stack.up();
    if (verdict !== "PASSED") throw new Error(`the verdict was ${verdict} instead of PASSED; see ${path}`);
    const journal = JSON.parse(readFileSync(path, "utf8")) as Journal;
    const proof = (journal.endedAt - journal.startedAt) / 1_000 - windowSeconds;
    const waits = proof + journal.recovery!.recoveredAfterMs / 1_000;
    return { work: enable + disable - windowSeconds - waits, waits };
}
