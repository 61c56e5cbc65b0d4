import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { answersFor, describeBound, interval, lowerBound, upperBound } from "../../../../chaos/values/bound";
import type { Rounding } from "../../../../chaos/values/rounded";
import { percentOf } from "../../../../chaos/values/share";

const logOfFactorial = (number: number): number => {
    let sum = 0;
    for (let factor = 2; factor <= number; factor++) sum += Math.log(factor);
    return sum;
};

/** The probability of at least so many good answers, by the definition of the binomial distribution. */
function probabilityOfAtLeast(good: number, all: number, chance: number): number {
    const of = (count: number) =>
        Math.exp(
            logOfFactorial(all) -
                logOfFactorial(count) -
                logOfFactorial(all - count) +
                count * Math.log(chance) +
                (all - count) * Math.log(1 - chance),
        );
    return Array.from({ length: all - good + 1 }, (_, index) => of(good + index)).reduce((sum, one) => sum + one, 0);
}

describe("the exact one-sided bound", () => {
    it.each([
        // The number of answers that show a share if all are good: tables of success runs.
        [15, 15, 0.95, 0.81896, 1],
        [22, 22, 0.9, 0.90063, 1],
        [59, 59, 0.95, 0.95049, 1],
        [299, 299, 0.95, 0.99003, 1],
        [459, 459, 0.99, 0.99002, 1],
        [0, 15, 0.95, 0, 0.18104],
        [0, 300, 0.95, 0, 0.00994],
        // One side of the two-sided 90%: NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.4.1.
        [4, 20, 0.95, 0.07135, 0.40103],
        // One side of the two-sided 95%: the documentation of scipy's `proportion_ci`.
        [7, 50, 0.975, 0.05819, 0.2674],
        // Two-sided 95% tables of the binomial proportion.
        [5, 10, 0.975, 0.18709, 0.81291],
        [50, 100, 0.975, 0.39832, 0.60168],
    ])("of %i good answers of %i at %d is as published: %d and %d", (good, all, level, least, most) => {
        expect(lowerBound(good, all, level)).toBeCloseTo(least, 5);
        expect(upperBound(good, all, level)).toBeCloseTo(most, 5);
    });

    it("leaves the probability that the level leaves to so many good answers, and to so few", () =>
        fc.assert(
            fc.property(
                fc.nat(200),
                fc.integer({ min: 1, max: 100 }),
                fc.double({ min: 0.5, max: 0.9999, noNaN: true }),
                (good, bad, level) => {
                    const all = good + bad;
                    const least = lowerBound(good, all, level);
                    const most = upperBound(good, all, level);
                    if (good > 0) expect(probabilityOfAtLeast(good, all, least)).toBeCloseTo(1 - level, 6);
                    expect(probabilityOfAtLeast(good + 1, all, most)).toBeCloseTo(level, 6);
                },
            ),
        ));

    it("is on the safe side of the share that was seen, and nearer to it with more answers", () =>
        fc.assert(
            fc.property(
                fc.nat(1_000),
                fc.integer({ min: 1, max: 1_000 }),
                fc.double({ min: 0.5, max: 0.9999, noNaN: true }),
                (good, bad, level) => {
                    const all = good + bad;
                    expect(lowerBound(good, all, level)).toBeLessThanOrEqual(good / all);
                    expect(upperBound(good, all, level)).toBeGreaterThanOrEqual(good / all);
                    expect(lowerBound(10 * good, 10 * all, level)).toBeGreaterThanOrEqual(lowerBound(good, all, level));
                },
            ),
        ));

    it.each([
        [100_000, 100_000, 0.9999700433],
        [99_000, 100_000, 0.9894668],
        [50_000, 100_000, 0.4973943],
    ])("of %i of %i is exact, too", (good, all, about) => expect(lowerBound(good, all, 0.95)).toBeCloseTo(about, 5));
});

describe("the exact two-sided interval", () => {
    it.each([
        // Tables of the binomial proportion, in percent.
        [8, 9, 0.95, 51.75, 99.72],
        [0, 10, 0.95, 0, 30.85],
        [10, 10, 0.95, 69.15, 100],
        [1, 10, 0.95, 0.25, 44.5],
        [9, 10, 0.95, 55.5, 99.75],
        [5, 10, 0.95, 18.71, 81.29],
        [50, 100, 0.95, 39.83, 60.17],
        // NIST/SEMATECH e-Handbook of Statistical Methods, 7.2.4.1.
        [4, 20, 0.9, 7.14, 40.1],
    ])("of %i good answers of %i at %d is as published: %d% to %d%", (good, all, level, least, most) => {
        const { atLeast, atMost } = interval(good, all, level);
        expect(100 * atLeast).toBeCloseTo(least, 2);
        expect(100 * atMost).toBeCloseTo(most, 2);
    });

    it("leaves half of the error to either side, and everything possible without answers", () => {
        fc.assert(
            fc.property(
                fc.nat(100),
                fc.nat(100),
                fc.double({ min: 0.5, max: 0.999, noNaN: true }),
                (good, bad, level) => {
                    const all = good + bad;
                    const { atLeast, atMost } = interval(good, all, level);
                    if (good > 0) expect(probabilityOfAtLeast(good, all, atLeast)).toBeCloseTo((1 - level) / 2, 6);
                    else expect(atLeast).toBe(0);
                    if (bad > 0)
                        expect(1 - probabilityOfAtLeast(good + 1, all, atMost)).toBeCloseTo((1 - level) / 2, 6);
                    else expect(atMost).toBe(1);
                },
            ),
        );
        expect(interval(0, 0)).toEqual({ atLeast: 0, atMost: 1 });
    });
});

describe("how many answers show a share", () => {
    it.each([
        // Tables of one-sided tolerance limits (Wilks): by the number of bad answers.
        ["95%", 0.95, 0.95, [59, 93, 124, 153, 181]],
        ["99%", 0.99, 0.95, [299, 473, 628, 773, 913]],
        ["95%", 0.95, 0.99, [90, 130, 165, 198]],
        ["90%", 0.9, 0.9, [22, 38, 52, 65]],
        ["50%", 0.5, 0.75, [2]],
    ])("%s at %d", (_, share, level, numbers) =>
        expect(numbers.map((_, bad) => answersFor({ atLeast: share, level }, bad))).toEqual(numbers),
    );

    it("is the least number", () => {
        const confidence = { atLeast: 0.999, level: 0.95 };
        const all = answersFor(confidence);
        expect(lowerBound(all, all, 0.95)).toBeGreaterThanOrEqual(0.999);
        expect(lowerBound(all - 1, all - 1, 0.95)).toBeLessThan(0.999);
    });
});

describe("a bound in words", () => {
    const read = (text: string) => Number(`${text.replace("%", "")}e-2`);

    it("reads as no more than it is, and than the rate that was seen, and the other one as no less", () =>
        fc.assert(
            fc.property(fc.nat(10_000), fc.integer({ min: 1, max: 10_000 }), (some, all) => {
                const good = Math.min(some, all);
                const rate = read(percentOf(good, all));
                const [least, most] = [lowerBound(good, all, 0.95), upperBound(good, all, 0.95)];
                expect(read(describeBound(least, "down"))).toBeLessThanOrEqual(Math.min(rate, least + 1e-12));
                expect(read(describeBound(most, "up"))).toBeGreaterThanOrEqual(Math.max(rate, most - 1e-12));
            }),
        ));

    it.each<[string, number, Rounding, string]>([
        ["of 15 of 15, down", lowerBound(15, 15, 0.95), "down", "81.8%"],
        ["of 0 of 15, up", upperBound(0, 15, 0.95), "up", "18.2%"],
        ["of 1997 of 1997, below the 99.9% that take 2995", lowerBound(1997, 1997, 0.95), "down", "99.8%"],
        ["of 285 of 285, below the 99% that take 299", lowerBound(285, 285, 0.95), "down", "98.9%"],
        ["of 1 of 1, without a noise of its computing", lowerBound(1, 1, 0.95), "down", "5%"],
        ["of 0 of 1, without a noise of its computing", upperBound(0, 1, 0.95), "up", "95%"],
        ["to the nearest tenth of a percent", 0.8888, "nearest", "88.9%"],
        ["without a tenth that is 0", 0.95049, "down", "95%"],
        ["never as 100% unless it is", 0.99970047, "up", "99.98%"],
        ["as 100%", 1, "up", "100%"],
        ["never as 0% unless it is", 0.0002, "down", "0.02%"],
        ["never as twice what it is", 0.000513, "up", "0.052%"],
        ["as 0%", 0, "down", "0%"],
    ])("%s", (_, bound, rounding, text) => expect(describeBound(bound, rounding)).toBe(text));

    it("has more digits until what must be right of it is", () => {
        const isAbove = (shown: number) => shown > 0.99;
        expect(describeBound(0.9900401, "down", isAbove)).toBe("99.004%");
        expect(describeBound(0.9900401, "down")).toBe("99%");
    });
});
