import { describe, expect, it } from "vitest";
import type { Outcome } from "../../../cli/experiment-runs";
import { exitCodeOf } from "../../../chaos/cli/outcomes";
import { exitCodeOfAll, verdictTable } from "../../../cli/experiment-outcomes";

function outcome(verdict: string | undefined, expectedToFail?: string[]): Outcome {
    const checks = [{ name: "/products", held: verdict === "PASSED" }];
    const conclusion = { verdict, successRate: verdict === "PASSED" ? "100%" : "0%", reason: "because.", checks };
    return {
        experiment: `experiment-${verdict}`,
        journal: verdict === undefined ? undefined : ({ conclusion } as Outcome["journal"]),
        error: "no cluster",
        expected: expectedToFail && { failing: expectedToFail, mayPass: false },
        startedAt: 0,
        durationMs: 1,
    };
}

describe("the table of verdicts", () => {
    it("has a line for each run, and says which ended as expected", () => {
        const outcomes = [outcome("FAILED", ["/products"]), outcome("PASSED", ["/products"]), outcome("PASSED")];
        expect(verdictTable([...outcomes, outcome("ABORTED"), outcome(undefined)]).split("\n")).toEqual([
            "",
            "Verdicts",
            "  FAILED       0%  experiment-FAILED      as expected      because.",
            "  PASSED     100%  experiment-PASSED      expected FAILED  because.",
            "  PASSED     100%  experiment-PASSED (2)                   because.",
            "  ABORTED          experiment-ABORTED                      because.",
            "  not run          experiment-undefined                    no cluster",
        ]);
    });
});

describe("the exit code", () => {
    it("of one run is that of its verdict, expected or not", () => {
        const codes = ["PASSED", "FAILED", "INCONCLUSIVE", "ABORTED", undefined].map((verdict) =>
            exitCodeOf(outcome(verdict, ["/products"])),
        );
        expect(codes).toEqual([0, 2, 3, 4, 1]);
    });

    it("of several is 0 if all ended as expected", () =>
        expect(exitCodeOfAll([outcome("FAILED", ["/products"]), outcome("PASSED", []), outcome("PASSED")])).toBe(0));

    it.each([
        ["PASSED", ["/products"], 2],
        ["FAILED", [], 2],
        ["FAILED", ["another"], 2],
        ["FAILED", undefined, 2],
        ["INCONCLUSIVE", ["/products"], 3],
        ["ABORTED", [], 4],
        [undefined, [], 1],
    ])("of several is that of a run with %s where %j was expected to fail: %i", (verdict, failing, code) =>
        expect(exitCodeOfAll([outcome("FAILED", ["/products"]), outcome(verdict, failing)])).toBe(code),
    );
});
