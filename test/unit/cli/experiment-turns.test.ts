import { describe, expect, it } from "vitest";
import type { Outcome } from "../../../cli/experiment-runs";
import { runInTurn } from "../../../cli/experiment-outcomes";

/** Runs that note what was run with which settings. */
class FakeRuns {
    readonly run: Record<string, string>[] = [];
    interrupted = false;

    constructor(
        private readonly during: (name: string) => Partial<Outcome> | void = () => undefined,
        private readonly mistaken: Record<string, string> = {},
    ) {}

    tellMistakes = async (changes: Record<string, string>) => this.mistaken[changes["experiment.name"] ?? ""];

    whole = async (changes: Record<string, string>): Promise<Outcome> => {
        this.run.push(changes);
        const experiment = changes["experiment.name"] ?? "unnamed";
        return { experiment, startedAt: 0, durationMs: 1, ...this.during(experiment) };
    };
}

const errorsOf = (outcomes: readonly Outcome[]) => outcomes.map(({ experiment, error }) => [experiment, error]);

describe("experiments in turn", () => {
    it("are run with the settings, and with their names if they have one", async () => {
        const [runs, outcomes] = [new FakeRuns(), [] as Outcome[]];
        await runInTurn(runs, ["a", undefined], { variant: "seven" }, outcomes);
        expect(runs.run).toEqual([{ variant: "seven", "experiment.name": "a" }, { variant: "seven" }]);
        expect(errorsOf(outcomes)).toEqual([
            ["a", undefined],
            ["unnamed", undefined],
        ]);
    });

    it("are run without the one whose settings are a mistake, which is told of it alone", async () => {
        const outcomes: Outcome[] = [];
        const runs = new FakeRuns(undefined, { b: "experiment.duration is too short" });
        await runInTurn(runs, ["a", "b", "c"], {}, outcomes);
        expect(runs.run.map((changes) => changes["experiment.name"])).toEqual(["a", "c"]);
        expect(errorsOf(outcomes)).toEqual([
            ["a", undefined],
            ["b", "experiment.duration is too short"],
            ["c", undefined],
        ]);
    });

    it("are not begun after an interruption, which is told of each", async () => {
        const outcomes: Outcome[] = [];
        const runs: FakeRuns = new FakeRuns(() => void (runs.interrupted = true));
        await runInTurn(runs, ["a", "b", undefined], {}, outcomes);
        expect(runs.run).toHaveLength(1);
        expect(errorsOf(outcomes).slice(1)).toEqual([
            ["b", "interrupted before it began"],
            ["the stack's experiment", "interrupted before it began"],
        ]);
    });

    it("are not begun after one that could not be undone", async () => {
        const outcomes: Outcome[] = [];
        const runs = new FakeRuns((name) => (name === "b" ? { notUndone: "no answer" } : {}));
        await runInTurn(runs, ["a", "b", "c", "d"], {}, outcomes);
        expect(runs.run).toHaveLength(2);
        expect(errorsOf(outcomes).slice(2)).toEqual([
            ["c", "not begun, since b could not be undone"],
            ["d", "not begun, since b could not be undone"],
        ]);
    });
});
