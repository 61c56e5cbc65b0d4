import { describe, expect, it } from "vitest";
import { lessonLines } from "../../../cli/experiment-list";
import type { Verdict } from "../../../chaos/report/verdict";
import { expectationOf, type Story } from "../../../experiments/story";

const story: Story = {
    lesson: "gone",
    failing: ["/products"],
    remedy: { what: "Three pods.", settings: { "replicas.hot-deals": "3" }, compare: "other" },
};

const linesOf = (verdict: Verdict, settings: Record<string, string> = {}, of = story) => {
    const setting = (key: string) => settings[key];
    const checks = [{ name: "/products", held: verdict === "PASSED", requests: 30, successRate: "" }];
    return lessonLines(of, expectationOf(of, setting, [])!, { verdict, checks }, setting).map((line) =>
        line.replace(/^ +(\w+) +/, "$1: "),
    );
};

describe("what a run teaches, at its end", () => {
    it("is what was expected, and how to try the remedy", () => {
        expect(linesOf("FAILED")).toEqual([
            "Lesson: A dependency is gone. Expected: FAILED",
            "Remedy: Three pods. Try: --set replicas.hot-deals=3 Compare: other",
        ]);
    });

    it("does not say to try the settings that the run has", () => {
        expect(linesOf("PASSED", { "replicas.hot-deals": "3" })).toEqual([
            "Lesson: A dependency is gone. Expected: PASSED with the remedy",
            "Remedy: In effect: Three pods. Compare: other",
        ]);
    });

    it("names the shop that was expected to fail, and no remedy, if this run passed", () => {
        expect(linesOf("PASSED")).toEqual([
            "Lesson: A dependency is gone. Expected: FAILED with the default settings and unchanged sources",
        ]);
    });

    it("keeps the remedy if the run failed otherwise than expected, or passed as it rarely does", () => {
        expect(linesOf("INCONCLUSIVE")).toEqual([
            "Lesson: A dependency is gone. Expected: FAILED with the default settings and unchanged sources",
            "Remedy: Three pods. Try: --set replicas.hot-deals=3 Compare: other",
        ]);
        expect(linesOf("PASSED", {}, { ...story, mayPass: true })[0]).toBe(
            "Lesson: A dependency is gone. Expected: FAILED, rarely PASSED",
        );
    });
});
