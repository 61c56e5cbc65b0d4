import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import {
    continuing,
    exitCodeOfDecision,
    type Repeat,
    type Repeatable,
    repeatIn,
    runSeries,
    seriesEnd,
    type WrittenRepeat,
} from "../../../../chaos/cli/series";
import type { ReportedRun } from "../../../../chaos/report/reported-run";
import { seriesOf } from "../../../../chaos/report/series";
import type { Verdict } from "../../../../chaos/report/verdict";
import { runWith } from "../report/runs";
import { journal } from "../report/support";

const ended = (verdict: Verdict, run = ""): ReportedRun => runWith({ verdict }, { plan: { ...journal.plan, run } });

/** Runs that end with the given verdicts, the last one again and again. */
class FakeRuns implements Repeatable<ReportedRun> {
    readonly names: string[] = [];
    settings = "11111111";
    interrupted = false;
    kept: ReportedRun[] = [];
    notUndone?: string;

    constructor(
        private readonly verdicts: Verdict[],
        private readonly during: (number: number) => Partial<ReportedRun> | void = () => undefined,
    ) {}

    earlier = () => this.kept;
    undone = 0;
    undo = async () => {
        this.undone++;
        return this.notUndone;
    };
    run = async (name: string) => {
        vi.setSystemTime(Date.now() + 1_000);
        const number = this.names.push(name);
        const outcome = ended(this.verdicts[Math.min(number, this.verdicts.length) - 1]!, name);
        this.kept.push(outcome);
        return { ...outcome, ...this.during(number) };
    };
}

async function series(runs: FakeRuns, repeat: Partial<Repeat> = {}) {
    const [outcomes, printed]: [ReportedRun[], string[]] = [[], []];
    await runSeries(runs, { times: 10, isContinued: false, ...repeat }, outcomes, (line) => printed.push(line));
    return { verdicts: outcomes.map(({ journal }) => journal?.conclusion.verdict), outcomes, printed };
}

beforeEach(() => {
    vi.useFakeTimers({ toFake: ["Date"] });
    onTestFinished(() => void vi.useRealTimers());
});

describe("a series of runs", () => {
    it("has as many runs as asked for, each of its own name, and says what was seen so far", async () => {
        const runs = new FakeRuns(["PASSED", "INCONCLUSIVE", "FAILED", "PASSED"]);
        const { verdicts, printed } = await series(runs, { times: 5 });
        expect(verdicts).toEqual(["PASSED", "INCONCLUSIVE", "FAILED", "PASSED", "PASSED"]);
        expect(new Set(runs.names).size).toBe(5);
        expect(printed[0]).toBe("\nRun 1 of 5");
        expect(printed[3]).toMatch(
            /^\nRun 4 of 5\. So far 1 of 3 PASSED, 1 FAILED, 1 INCONCLUSIVE; of decided runs 50% /,
        );
    });

    it.each<[string, Verdict[], number]>([
        ["as soon as it is decided that fewer pass", ["FAILED"], 3],
        ["as soon as it is decided that so many pass", ["PASSED"], 29],
        ["without counting runs that were not decided", ["INCONCLUSIVE", "ABORTED", "FAILED"], 5],
        ["after the last run, if it is not decided", ["PASSED", "PASSED", "PASSED", "FAILED", "ABORTED"], 50],
    ])("ends %s", async (_, verdicts, number) => {
        const runs = new FakeRuns(verdicts);
        await series(runs, { times: 50, until: 0.8 });
        expect(runs.names).toHaveLength(number);
    });

    it("is undone if it is complete already: its last run may have been killed before that", async () => {
        const runs = new FakeRuns(["PASSED"]);
        await series(runs, { times: 3 });
        expect(runs.undone).toBe(0);
        runs.notUndone = "the attack could not be undone";
        const { outcomes } = await series(runs, { times: 3, isContinued: true });
        expect(runs.undone).toBe(1);
        expect(runs.names).toHaveLength(3);
        expect(outcomes.map(({ notUndone }) => notUndone)).toEqual([undefined, undefined, runs.notUndone]);
    });

    it("does not end by its results if it was not asked to", async () => {
        const { verdicts } = await series(new FakeRuns(["FAILED"]), { times: 50 });
        expect(verdicts).toHaveLength(50);
    });

    it("ends after an interruption, and after a run that could not be undone", async () => {
        const runs: FakeRuns = new FakeRuns(["PASSED"], (number) => void (runs.interrupted = number === 3));
        expect((await series(runs)).verdicts).toHaveLength(3);
        const stuck = new FakeRuns(["PASSED"], (number) => (number === 2 ? { notUndone: "no answer" } : {}));
        expect((await series(stuck)).verdicts).toHaveLength(2);
    });

    it("goes on after an interruption, with what its earlier runs have shown", async () => {
        const runs: FakeRuns = new FakeRuns(["PASSED"], (number) => void (runs.interrupted = number === 3));
        await series(runs);
        runs.interrupted = false;
        const { verdicts, printed } = await series(runs, { isContinued: true });
        expect(verdicts).toHaveLength(10);
        expect(runs.names).toHaveLength(10);
        expect(printed.slice(0, 2)).toEqual([
            "Continuing a series",
            expect.stringMatching(/^\nRun 4 of 10\. So far 3 of 3 PASSED;/),
        ]);
        expect((await series(runs, { isContinued: true })).verdicts).toHaveLength(10);
        expect(runs.names).toHaveLength(10);
    });

    it("is another one with other settings, and when it begins again", async () => {
        const runs = new FakeRuns(["PASSED"]);
        await series(runs, { times: 3 });
        await series(runs, { times: 2 });
        runs.settings = "22222222";
        const { printed } = await series(runs, { times: 2, isContinued: true });
        expect(printed[0]).toBe("No series with these settings: beginning one");
        expect(runs.names).toHaveLength(7);
        runs.settings = "11111111";
        expect((await series(runs, { times: 2, isContinued: true })).verdicts).toHaveLength(2);
        expect(runs.names).toHaveLength(7);
    });
});

describe("the end of a series", () => {
    const runs = (passed: number, failed: number, undecided = 0) => [
        ...Array.from({ length: passed }, () => ended("PASSED")),
        ...Array.from({ length: failed }, () => ended("FAILED")),
        ...Array.from({ length: undecided }, () => ended("INCONCLUSIVE")),
    ];

    it("is how many passed, and what that shows", () =>
        expect(seriesEnd(runs(8, 1), {})).toEqual([
            "8 of 9 PASSED, 1 FAILED; of decided runs 88.9% passed (95% confidence: 51.7% to 99.8%)",
        ]));

    it.each([
        [29, 0, 0, "Shown with 95% confidence: at least 80% of decided runs pass"],
        [0, 3, 0, "Shown with 95% confidence: fewer than 80% of decided runs pass"],
        [29, 0, 60, "Shown with 95% confidence: at least 80% of decided runs pass; 60 of 89 runs were undecided"],
        [
            8,
            0,
            0,
            "It is not decided whether at least 80% of decided runs pass: 29 decided runs would show it if all pass",
        ],
        [
            8,
            1,
            1,
            "It is not decided whether at least 80% of decided runs pass: 41 decided runs would show it if no more " +
                "than 1 fails; 1 of 10 runs was undecided",
        ],
    ])("of %i that passed, %i that failed and %i undecided ones has whether a share was reached: %s", (...counts) =>
        expect(seriesEnd(runs(counts[0], counts[1], counts[2]), { until: 0.8 })[1]).toBe(counts[3]),
    );

    it.each([156, 157])("has no interval that reads as the share, of %i that passed, if it is not shown", (passed) => {
        const [shown, decision] = seriesEnd(runs(passed, 0), { until: 0.95 });
        expect(shown).toContain("(95% confidence: 94.9% to 100%)");
        expect(decision).toMatch(/^It is not decided whether at least 95% of decided runs pass: 158 /);
    });

    it("has a wider interval if the results decide when it ends", () =>
        expect(seriesEnd(runs(10, 0), { until: 0.8 })[0]).toContain("(95% confidence: 58.3% to 100%)"));

    it("has the wider interval as long as it is not complete: it is seen after every run", async () => {
        const runs = new FakeRuns(["PASSED"]);
        const { outcomes, printed } = await series(runs, { times: 11 });
        expect(printed[10]).toContain("So far 10 of 10 PASSED; of decided runs 100% passed (95% confidence: 58.3% to");
        expect(seriesEnd(outcomes.slice(0, 10), {})[0]).toContain("(95% confidence: 58.3% to 100%)");
        expect(seriesEnd(outcomes, {})[0]).toContain("(95% confidence: 71.5% to 100%)");
    });

    it("has the wider interval if it was continued to more runs", async () => {
        const runs = new FakeRuns(["PASSED"]);
        await series(runs, { times: 5 });
        const { outcomes } = await series(runs, { times: 10, isContinued: true });
        expect(seriesEnd(outcomes, {})[0]).toContain("(95% confidence: 58.3% to 100%)");
    });

    it("has the wider interval if the results decided that once, and it was continued without", async () => {
        const runs = new FakeRuns(["PASSED"], (number) => void (runs.interrupted = number === 3));
        await series(runs, { until: 0.9 });
        runs.interrupted = false;
        const { outcomes } = await series(runs, { isContinued: true });
        expect(outcomes.map((run) => seriesOf(run)?.isWatched)).toContain(false);
        expect(seriesEnd(outcomes, {})[0]).toContain("(95% confidence: 58.3% to 100%)");
    });

    it.each([
        [29, 0, 0],
        [0, 3, 2],
        [8, 0, 3],
    ])("by %i that passed and %i that failed has the exit code %i if a share was asked for", (passed, failed, code) =>
        expect(exitCodeOfDecision(runs(passed, failed), 0.8)).toBe(code),
    );
});

describe("the options of a series", () => {
    const mistakesIn = (written: WrittenRepeat) => {
        const mistakes: string[] = [];
        repeatIn(written, mistakes);
        return mistakes;
    };

    it("must be able to show what is asked, if all runs pass", () => {
        expect(mistakesIn({ times: "10", until: "95%" })).toEqual([
            "--times 10 --until 95%: 10 runs cannot show it; it takes 158 that all pass; allowed: --times of at " +
                "least 158, or --until of at most 58.3%",
        ]);
        expect(mistakesIn({ times: "158", until: "95%" })).toEqual([]);
        expect(mistakesIn({ times: "10", until: "58.3%" })).toEqual([]);
    });

    it("propose no number of runs that is not allowed", () =>
        expect(mistakesIn({ times: "100", until: "99.99%" })[0]).toMatch(
            /all pass; allowed: --until of at most [\d.]+%$/,
        ));

    it("are repeated to go on with it", () => {
        expect(continuing(["--times", "5"])).toEqual(["--times", "5", "--continue"]);
        expect(continuing(["--continue", "--times", "5"])).toEqual(["--continue", "--times", "5"]);
    });
});
