import { describe, expect, it } from "vitest";
import { decidedOf, describeDecided, describeSeries } from "../../../../chaos/report/pass-rate";
import { watchedInterval } from "../../../../chaos/values/watched";
import { aborted, broken, failed, inconclusive, passed } from "./runs";

const times = <T>(count: number, one: T): T[] => Array.from({ length: count }, () => one);

describe("how many runs passed", () => {
    it("counts only the decided ones", () =>
        expect(decidedOf([passed, passed, failed, inconclusive, aborted, broken])).toEqual({ passed: 2, decided: 3 }));

    it.each([
        [8, 9, "8 of 9 decided passed (95%, if nothing was changed in between: 41.9% to 99.95%)"],
        [0, 10, "0 of 10 decided passed (95%, if nothing was changed in between: 0% to 41.7%)"],
        [0, 0, "none decided"],
    ])("over time, of %i of %i: %s", (passed, decided, text) =>
        expect(describeDecided({ passed, decided })).toBe(text),
    );

    it.each([
        [
            [...times(8, passed), failed, inconclusive],
            "8 of 10 PASSED, 1 FAILED, 1 INCONCLUSIVE; of decided runs 88.9% passed (95% confidence: 51.7% to 99.8%)",
        ],
        [times(10, passed), "10 of 10 PASSED; of decided runs 100% passed (95% confidence: 69.1% to 100%)"],
        [[aborted, broken], "0 of 2 PASSED, 1 ABORTED, 1 no verdict; no run was decided"],
    ])("in a series (%#): %s", (runs, text) => expect(describeSeries(runs)).toBe(text));

    it("has the interval of a series that is watched, if it is one", () =>
        expect(describeSeries(times(10, passed), watchedInterval)).toContain("(95% confidence: 58.3% to 100%)"));
});
