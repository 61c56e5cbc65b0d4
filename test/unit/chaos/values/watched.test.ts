import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { interval, type Interval } from "../../../../chaos/values/bound";
import { decide, runsFor, watchedInterval } from "../../../../chaos/values/watched";

const runs = fc.tuple(fc.nat(100), fc.nat(100));

/**
 * The share of series of up to `most` runs in which an interval leaves out the true chance after some run: each run of
 * each series is weighed, none is drawn.
 */
function everWrong(chance: number, most: number, intervalOf: (passed: number, all: number) => Interval): number {
    let [right, wrong] = [[1], 0];
    for (let all = 1; all <= most; all++) {
        const next = Array.from({ length: all + 1 }, (_, passed) => {
            return (right[passed - 1] ?? 0) * chance + (right[passed] ?? 0) * (1 - chance);
        });
        right = next.map((weight, passed) => {
            const { atLeast, atMost } = intervalOf(passed, all);
            if (atLeast <= chance && chance <= atMost) return weight;
            wrong += weight;
            return 0;
        });
    }
    return wrong;
}

describe("the interval of runs that are watched", () => {
    it.each([0.05, 0.2, 0.5, 0.8, 0.9, 0.95, 0.99])(
        "leaves out a chance of %d in at most 5% of series, whenever somebody looks",
        (chance) => expect(everWrong(chance, 120, watchedInterval)).toBeLessThanOrEqual(0.05),
    );

    it("is needed: that of a fixed number of runs leaves out a half in 23% of series of 100 runs", () =>
        expect(everWrong(0.5, 100, interval)).toBeCloseTo(0.23, 2));

    it.each([
        // The whole calculation, by hand: 1 - (0.05 / 3)^(1/2), and (0.05 / 11)^(1/10).
        [0, 2, 0, 0.8709],
        [10, 10, 0.5831, 1],
        [0, 0, 0, 1],
    ])("of %i of %i is from %d to %d", (passed, all, least, most) => {
        const { atLeast, atMost } = watchedInterval(passed, all);
        expect(atLeast).toBeCloseTo(least, 4);
        expect(atMost).toBeCloseTo(most, 4);
    });

    it("has the share that was seen in it, and is never the narrower one", () =>
        fc.assert(
            fc.property(runs, ([passed, others]) => {
                const all = passed + others;
                const [watched, fixed] = [watchedInterval(passed, all), interval(passed, all)];
                if (all > 0) expect(watched.atLeast).toBeLessThanOrEqual(passed / all);
                expect(watched.atLeast).toBeLessThanOrEqual(fixed.atLeast + 1e-12);
                expect(watched.atMost).toBeGreaterThanOrEqual(fixed.atMost - 1e-12);
            }),
        ));
});

describe("whether a share is reached", () => {
    it.each([
        [{ atLeast: 0.95, atMost: 1 }, "reached"],
        [{ atLeast: 0.9, atMost: 0.95 }, undefined],
        [{ atLeast: 0.9, atMost: 0.949 }, "missed"],
    ])("is decided by an interval %j that is wholly on one side: %s", (interval, decision) =>
        expect(decide(0.95, interval)).toBe(decision),
    );

    it.each([
        [0.5, [8, 12, 16]],
        [0.8, [29, 41, 51]],
        [0.9, [69, 94, 116]],
        [0.95, [158, 210, 254]],
    ])("takes for %d so many runs, by the number that fail: %j", (share, numbers) => {
        expect(numbers.map((_, failed) => runsFor(share, failed))).toEqual(numbers);
        for (const [failed, all] of numbers.entries()) {
            const decisions = [all - 1, all, all + 1].map((one) => decide(share, watchedInterval(one - failed, one)));
            expect(decisions).toEqual([undefined, "reached", "reached"]);
        }
    });
});
