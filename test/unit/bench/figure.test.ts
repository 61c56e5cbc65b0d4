import { describe, expect, it } from "vitest";
import { describeResult, type Figure, judge, median, ratio } from "../../../bench/figure";

const figure = (bar: number): Figure => ({
    name: "speed",
    meaning: "how fast it is",
    bar,
    unit: "ratio",
    measure: () => Promise.reject(new Error("unused")),
});
const measured = (value: number) => ({ value, samples: { ours: [4.5, value, 3.5] } });

describe("a median", () => {
    it.each([
        [[3], 3],
        [[9, 1, 5], 5],
        [[10, 2, 4, 8], 6],
        [[100, 9, 11], 11], // by number, not by text
    ])("of %j is %d", (samples, expected) => expect(median(samples)).toBe(expected));

    it("is an error if there are no samples", () => expect(() => median([])).toThrow("no samples"));
});

describe("a ratio", () => {
    it("compares medians, so one slow round does not decide it", () => expect(ratio([6, 6, 60], [3, 3, 3])).toBe(2));
    it("is an error if the other side took no time", () => expect(() => ratio([1], [0])).toThrow("compared with 0"));
});

describe("a figure", () => {
    it.each([
        [1.29, true],
        [1.3, true],
        [1.31, false],
        [Number.NaN, false],
    ])("of %d is within a limit of 1.3: %s", (value, holds) =>
        expect(judge(figure(1.3), measured(value)).holds).toBe(holds),
    );

    it("is printed with its name, limit, value and samples", () => {
        const told = describeResult(judge(figure(1.3), measured(2)));
        for (const part of [
            "fails",
            "speed",
            "how fast it is",
            "at most 1.30 times",
            "2.00 times",
            "ours 3.50 s (4.50, 2.00, 3.50)",
        ])
            expect(told).toContain(part);
    });

    it("that could not be measured fails, and says why", () => {
        const told = describeResult({
            name: "speed",
            meaning: "how fast it is",
            bar: 1,
            unit: "s",
            holds: false,
            problem: "the clock stood still",
        });
        expect(told).toContain("fails");
        expect(told).toContain("not measured: the clock stood still");
    });
});
