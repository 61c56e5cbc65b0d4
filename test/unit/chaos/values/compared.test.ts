import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lowerBound, upperBound } from "../../../../chaos/values/bound";
import {
    answersNeeded,
    baselineFault,
    type ChangeLimit,
    changeOf,
    type Outcome,
    timesToDecide,
} from "../../../../chaos/values/compared";

const twice: ChangeLimit = { of: "p95", atMostTimes: 2 };
const onePercent: ChangeLimit = { of: "successRate", atMostLess: 0.01 };

/** The numbers from 1 to 30 in an order in which large ones do not come together. */
const oneToThirty = Array.from({ length: 30 }, (_, index) => ((index + 1) * 11) % 31);
/** Latencies that are spread evenly between a half and one and a half of a number. */
const around = (latencyMs: number, all: number): number[] =>
    Array.from({ length: all }, (_, index) => latencyMs * (0.5 + ((index * 7_919) % 100) / 100));
const goodAndBad = (all: number, isBad: (index: number) => boolean): Outcome[] =>
    Array.from({ length: all }, (_, index) => (isBad(index) ? "bad" : 10));

describe("the change of a quantile", () => {
    it("lies between two latencies of each sample, whose ranks are those of tables of the median", () =>
        // Of 30 values, the 10th and the 21st, half a millisecond of rounding aside.
        expect(changeOf(oneToThirty, oneToThirty, { of: "p50", atMostMoreMs: 100 })).toEqual({
            before: 15,
            during: 15,
            by: 0,
            atLeast: 9.5 - 21.5,
            atMost: 21.5 - 9.5,
            independent: { before: 30, during: 30 },
            isWithin: true,
        }));

    it.each([
        ["holds if its upper bound does", around(30, 600), around(35, 600), true],
        ["does not hold if its lower bound is beyond it", around(30, 600), around(200, 600), false],
        ["is undecided in between", around(30, 100), around(58, 100), undefined],
        ["is undecided if there are too few answers", around(30, 60), around(30, 60), undefined],
        ["does not hold if too many have no answer", around(30, 600), goodAndBad(600, (n) => n % 5 === 0), false],
    ])("%s", (_, before, during, isWithin) => expect(changeOf(before, during, twice).isWithin).toBe(isWithin));

    it("may be anything that unseen answers may have been", () => {
        const some = around(30, 600).map((latency, index): Outcome => (index % 10 === 3 ? "unseen" : latency));
        const all = changeOf(around(30, 600), around(30, 600), twice);
        const seen = changeOf(around(30, 600), some, twice);
        expect(seen.atMost).toBe(Infinity);
        expect(seen.atLeast).toBeLessThan(all.atLeast);
    });

    describe("may be less of late answers, by as much as this machine was late", () => {
        const app = around(6, 300);
        const late = (latencies: readonly number[], each: number): Outcome[] =>
            latencies.map((ms, index) => (index % each === 0 ? { latencyMs: ms + 60, stalledMs: 60 } : ms));

        it.each<[string, Outcome[], Outcome[]]>([
            ["in the window: an application that did not change does not fail", app, late(app, 3)],
            ["before: one that became slower does not hold", late(app, 3), around(54, 300)],
            ["nor if all answers were late", late(app, 1), around(54, 300)],
        ])("%s", (_, before, during) => expect(changeOf(before, during, twice).isWithin).toBeUndefined());

        it("but a change beyond that is one", () => {
            expect(changeOf(app, late(around(120, 300), 3), twice).isWithin).toBe(false);
            expect(changeOf(around(200, 300), late(around(200, 300), 3), twice).isWithin).toBe(true);
        });
    });

    it("is given with both bounds as far apart as the other way round", () =>
        fc.assert(
            fc.property(samples, samples, (before, during) => {
                const [there, back] = [changeOf(before, during, twice), changeOf(during, before, twice)];
                if (there.atLeast > 0 && back.atMost < Infinity) expect(there.atLeast * back.atMost).toBeCloseTo(1, 6);
                expect(there.atLeast).toBeLessThanOrEqual(there.by + 1e-9);
                expect(there.atMost).toBeGreaterThanOrEqual(there.by - 1e-9);
            }),
        ));
});

const samples = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 30, maxLength: 200 });
const limits = fc.constantFrom<ChangeLimit>(
    { of: "p50", atMostTimes: 2 },
    { of: "p95", atMostMoreMs: 100 },
    { of: "successRate", atMostLess: 0.05 },
);
const latency = fc.integer({ min: 1, max: 500 });
const late = fc.record({ latencyMs: latency, stalledMs: latency });
const outcomes = fc.array(fc.oneof(latency, late, fc.constantFrom("bad", "unseen")), {
    minLength: 1,
    maxLength: 200,
}) as fc.Arbitrary<Outcome[]>;

describe("a limit", () => {
    it("that holds still holds if it is looser, whatever the answers are", () =>
        fc.assert(
            fc.property(outcomes, outcomes, (before, during) => {
                for (const [strict, loose] of [
                    [
                        { of: "p50", atMostTimes: 1.5 },
                        { of: "p50", atMostTimes: 3 },
                    ],
                    [
                        { of: "p95", atMostMoreMs: 10 },
                        { of: "p95", atMostMoreMs: 200 },
                    ],
                    [
                        { of: "successRate", atMostLess: 0.02 },
                        { of: "successRate", atMostLess: 0.2 },
                    ],
                ] as [ChangeLimit, ChangeLimit][]) {
                    if (changeOf(before, during, strict).isWithin)
                        expect(changeOf(before, during, loose).isWithin).toBe(true);
                    if (changeOf(before, during, loose).isWithin === false)
                        expect(changeOf(before, during, strict).isWithin).toBe(false);
                }
            }),
        ));

    it("is compared in numbers, whatever the answers are", () =>
        fc.assert(
            fc.property(outcomes, outcomes, limits, (before, during, limit) => {
                const { atLeast, atMost } = changeOf(before, during, limit);
                expect(atLeast).not.toBeNaN();
                expect(atMost).not.toBeNaN();
                expect(atLeast).toBeLessThanOrEqual(atMost);
            }),
        ));

    it.each<[ChangeLimit, number]>([
        [{ of: "p50", atMostTimes: 2 }, 30],
        [{ of: "p95", atMostTimes: 2 }, 144],
        [{ of: "p99", atMostMoreMs: 10 }, 732],
        [{ of: "successRate", atMostLess: 0.05 }, 72],
        [onePercent, 366],
    ])("%j takes %i answers", (limit, number) => expect(answersNeeded(limit)).toBe(number));
});

describe("the drop of the success rate", () => {
    it.each([
        ["holds with as many good answers as it takes", 366, () => false, true],
        ["is undecided with fewer", 365, () => false, undefined],
        ["does not hold if bad answers are spread over the window", 600, (n: number) => n % 15 === 3, false],
        [
            "is undecided if as many came at once: that was one event",
            600,
            (n: number) => n >= 300 && n < 340,
            undefined,
        ],
    ])("%s", (_, all, isBad, isWithin) =>
        expect(
            changeOf(
                goodAndBad(all, () => false),
                goodAndBad(all, isBad),
                onePercent,
            ).isWithin,
        ).toBe(isWithin),
    );
});

describe("the number of bad answers among those that count", () => {
    it.each([
        [7, 100],
        [29, 100],
    ])("is %i of %i, also if a quotient of these is not exact", (bad, all) => {
        const spread = goodAndBad(all, (n) => Math.floor(((n + 1) * bad) / all) > Math.floor((n * bad) / all));
        const { atLeast, atMost, independent } = changeOf(
            goodAndBad(all, () => false),
            spread,
            onePercent,
        );
        expect(independent.during).toBe(all);
        const side = Math.sqrt(0.95);
        expect(atMost).toBe(1 - lowerBound(all - bad, all, side));
        expect(atLeast).toBe(lowerBound(all, all, side) - upperBound(all - bad, all, side));
    });
});

describe("answers that came in bursts", () => {
    const spread = around(30, 200).map((latency, index) => (index % 20 === 7 ? 900 : latency));
    const atOnce = around(30, 200).map((latency, index) => (index >= 100 && index < 110 ? 900 : latency));

    it("count as fewer than those that are spread", () => {
        expect(changeOf(spread, spread, twice).independent.before).toBe(200);
        expect(changeOf(atOnce, spread, twice).independent.before).toBeLessThan(50);
    });

    it.each<[number, ChangeLimit, Outcome]>([
        [60, { of: "p99", atMostTimes: 2 }, "bad"],
        [80, twice, "bad"],
        [95, twice, "bad"],
        [95, twice, 501],
        [60, { of: "p99", atMostMoreMs: 200 }, 501],
    ])(
        "leave open a limit that one spell of %i of 900 exceeds, whose answers are alike: %o, %s",
        (all, limit, what) => {
            const before = around(30, 900);
            const during = before.map((latency, index) => (index >= 400 && index < 400 + all ? what : latency));
            const { isWithin, independent } = changeOf(before, during, limit);
            expect(independent.during).toBeLessThan(50);
            expect(isWithin).toBeUndefined();
        },
    );

    it.each<[string, ChangeLimit, number, Outcome, Outcome]>([
        ["of 95 that take 501 ms, and one that is bad", twice, 95, 501, "bad"],
        ["of 95 that take 501 ms, and one that takes 502 ms", twice, 95, 501, 502],
        ["of 60 bad ones for a p99, and one bad one elsewhere", { of: "p99", atMostTimes: 2 }, 60, "bad", "bad"],
        ["of 60 for a p99 that take 501 ms, and one bad one", { of: "p99", atMostMoreMs: 200 }, 60, 501, "bad"],
    ])("leave open a limit that one spell exceeds, %s", (_, limit, all, what, other) => {
        const before = around(30, 900);
        const during = before.map((latency, index) =>
            index === 100 ? other : index >= 400 && index < 400 + all ? what : latency,
        );
        expect(changeOf(before, during, limit).isWithin).toBeUndefined();
    });

    it("are nothing to compare others with if one spell of alike ones is the slowest, and reaches the quantile", () => {
        const baseline = around(30, 900).map((latency, index) => (index >= 400 && index < 495 ? 501 : latency));
        expect(baselineFault(baseline, { of: "p99", atMostTimes: 2 })).toMatchObject({ independent: 14, needed: 366 });
    });

    it.each([
        ["faster by a millisecond at first", [19, 100], [20, 800]],
        ["that took none at first", [0, 60], [1, 840]],
    ] as const)("are not slow answers that are alike, after some %s", (_, [first, some], [then, others]) => {
        const before = [...new Array<number>(some).fill(first), ...new Array<number>(others).fill(then)];
        expect(baselineFault(before, { of: "p95", atMostMoreMs: 20 })).toBeUndefined();
    });

    it("are nothing to compare others with, if they count as too few", () => {
        const half = around(30, 200).map((latency, index) => (index >= 100 && index < 114 ? 900 + index : latency));
        expect(baselineFault(half, twice)).toMatchObject({ independent: 14, needed: 72, bad: 0, unseen: 0 });
        expect(baselineFault(spread, twice)).toBeUndefined();
    });

    describe("of which many take no millisecond", () => {
        const instant = goodAndBad(300, () => false).map((): Outcome => 0);

        it("can be compared by a time", () => {
            expect(baselineFault(instant, { of: "p50", atMostMoreMs: 200 })).toBeUndefined();
            expect(changeOf(instant, instant, { of: "p50", atMostMoreMs: 200 }).isWithin).toBe(true);
            expect(changeOf(instant, around(900, 300), { of: "p50", atMostMoreMs: 200 }).isWithin).toBe(false);
        });

        it("cannot by a factor", () =>
            expect(baselineFault(instant, twice)).toEqual({
                independent: 300,
                needed: 72,
                bad: 0,
                unseen: 0,
                isTooFast: true,
            }));

        it("nor with a bad one among them: it is not what keeps them from it", () =>
            expect(baselineFault(["bad", ...instant], { of: "p50", atMostTimes: 2 })).toMatchObject({
                bad: 1,
                isTooFast: true,
            }));
    });

    it("nor are answers of which too many are bad", () =>
        expect(
            baselineFault(
                goodAndBad(200, (n) => n % 10 === 3),
                twice,
            ),
        ).toMatchObject({ bad: 20 }));
});

describe("nothing can be compared with answers before the attack", () => {
    const all = (outcome: Outcome): Outcome[] => Array<Outcome>(150).fill(outcome);
    const tenPercent: ChangeLimit = { of: "successRate", atMostLess: 0.1 };

    it.each<[string, Outcome[], ChangeLimit]>([
        ["that were all bad: their rate cannot drop", all("bad"), tenPercent],
        ["that all saw nothing", all("unseen"), tenPercent],
        ["of which no more were good than may be lost", goodAndBad(150, (n) => n % 10 !== 3), tenPercent],
        ["that took no time, of which there is no multiple", all(0), { of: "p50", atMostTimes: 2 }],
    ])("%s", (_, before, limit) => expect(baselineFault(before, limit)).toBeDefined());

    it.each<[string, Outcome[], ChangeLimit]>([
        ["of which more were good than may be lost", goodAndBad(150, (n) => n % 2 === 0), tenPercent],
        ["that took no time, if a time more is the limit", all(0), { of: "p50", atMostMoreMs: 20 }],
    ])("but it can with those %s", (_, before, limit) => expect(baselineFault(before, limit)).toBeUndefined());
});

describe("how many answers would decide", () => {
    it("is given as a multiple of those that there were", () => {
        const times = timesToDecide(around(30, 100), around(58, 100), twice)!;
        expect(times).toBeGreaterThan(1);
        const more = Math.ceil(100 * times * 1.2);
        expect(changeOf(around(30, more), around(58, more), twice).isWithin).toBe(true);
    });

    it("is not known of a change that is its limit", () =>
        expect(timesToDecide(around(30, 200), around(30, 200), { of: "p95", atMostTimes: 1 })).toBeUndefined());
});

/** Numbers from 0 to 1, the same for a seed (mulberry32). */
function randomOf(seed: number): () => number {
    return () => {
        seed = (seed + 0x6d2b79f5) | 0;
        let mixed = Math.imul(seed ^ (seed >>> 15), seed | 1);
        mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
        return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
    };
}

/** Fast answers that all take 2 ms, and bursts of slow ones, of a mean length, in a share of the time. */
function inBursts(random: () => number, all: number, { length, share }: { length: number; share: number }): number[] {
    let isSlow = random() < share;
    return Array.from({ length: all }, () => {
        const latencyMs = isSlow ? 200 + Math.floor(200 * random()) : 2;
        isSlow = random() < (isSlow ? 1 - 1 / length : share / (1 - share) / length);
        return latencyMs;
    });
}

/** Latencies with a long tail, each near the one before it by a correlation. */
function simulated(random: () => number, all: number, correlation: number, factor = 1): number[] {
    const gauss = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    let state = gauss();
    return Array.from({ length: all }, () => {
        state = correlation * state + Math.sqrt(1 - correlation ** 2) * gauss();
        return Math.round(factor * Math.exp(3.5 + 0.5 * state));
    });
}

describe("of simulated samples", () => {
    it.each([
        ["p50", 60, 0],
        ["p50", 60, 0.5],
        ["p95", 200, 0],
        ["p95", 200, 0.5],
        ["p95", 200, 0.9],
        ["p99", 800, 0.5],
    ] as const)("without a change in %s of %i answers, correlated by %d, few show one", (of, all, correlation) => {
        const random = randomOf(1);
        const runs = 400;
        const alarms = Array.from({ length: runs }, () =>
            changeOf(simulated(random, all, correlation), simulated(random, all, correlation), {
                of,
                atMostTimes: 1,
            }),
        ).filter(({ isWithin }) => isWithin === false);
        expect(alarms.length / runs).toBeLessThanOrEqual(0.05);
    });

    it.each([
        ["p50", 600, { length: 6, share: 0.52 }, 206],
        ["p95", 1200, { length: 6, share: 0.065 }, 245],
    ] as const)(
        "whose fast answers are alike, few hide slow bursts in %s of %i answers",
        (of, all, bursts, quantileMs) => {
            const random = randomOf(3);
            const runs = 400;
            const fast = new Array<number>(all).fill(1);
            const limit = { of, atMostMoreMs: quantileMs - 2 };
            const hidden = Array.from({ length: runs }, () =>
                changeOf(fast, inBursts(random, all, bursts), limit),
            ).filter(({ isWithin }) => isWithin);
            expect(hidden.length / runs).toBeLessThanOrEqual(0.05);
        },
    );

    it("most show a change from once to four times, and none at twice, where twice is the limit", () => {
        const random = randomOf(2);
        const shown = (factor: number) =>
            Array.from({ length: 100 }, () =>
                changeOf(simulated(random, 200, 0), simulated(random, 200, 0, factor), twice),
            ).filter(({ isWithin }) => isWithin === false).length;
        expect(shown(4)).toBeGreaterThan(80);
        expect(shown(2)).toBeLessThanOrEqual(5);
    });
});
