import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { concludedChange, describeChange, describeLimit } from "../../../../../chaos/kinds/checks/change-limits";
import { type ChangeLimit, changeOf, type Outcome } from "../../../../../chaos/values/compared";

const factor = (atMostTimes: number, of = "p50" as const): ChangeLimit => ({ of, atMostTimes });
const more = (atMostMoreMs: number, of = "p50" as const): ChangeLimit => ({ of, atMostMoreMs });
const drop = (atMostLess: number): ChangeLimit => ({ of: "successRate", atMostLess });

const always = (outcome: Outcome, all = 300): Outcome[] => Array.from({ length: all }, () => outcome);
const concluded = (limit: ChangeLimit, before: readonly Outcome[], during: readonly Outcome[]) =>
    concludedChange(limit, changeOf(before, during, limit));

/** Each text as a number: `1 min 3.5 s` in milliseconds, `1%` as 1. */
function numberIn(text: string): number {
    if (text.includes("any")) return text.endsWith("less") ? -Infinity : Infinity;
    const units: Record<string, number> = { ms: 1, s: 1_000, min: 60_000 };
    const parts = [...text.matchAll(/([\d.]+(?:e-\d+)?) ?(ms|s|min|x|%)/g)];
    const size = parts.reduce((sum, [, number, unit]) => sum + Number(number) * (units[unit!] ?? 1), 0);
    return text.startsWith("-") ? -size : size;
}

describe("a change in words", () => {
    it.each<[ChangeLimit, readonly Outcome[], readonly Outcome[], object]>([
        [factor(2), always(1_000), always(2_020), { by: "2.02x", atLeast: "2.01x", isWithin: false }],
        [more(1_000), always(100), always(1_130), { by: "+1.03 s", atLeast: "+1.02 s", isWithin: false }],
        [more(60_000), always(100), always(60_150), { atLeast: "+1 min 0.04 s", isWithin: false }],
        [more(1_234), always(100), always(1_300), { atMost: "+1.21 s", required: "+1.234 s", isWithin: true }],
        [factor(1.04), always(1_000), always(1_038), { atMost: "1.04x", required: "1.04x", isWithin: true }],
    ])("%j: no bound reads as if it were on the other side of the limit (%#)", (limit, before, during, said) =>
        expect(concluded(limit, before, during)).toMatchObject(said),
    );

    it("has no factor of 0 if answers are much faster, and no sign before any time", () => {
        expect(concluded(factor(2), always(990), always(40)).by).toBe("0.04x");
        const unseen = always(30).map((ms, index): Outcome => (index % 3 > 0 ? "unseen" : ms));
        expect(concluded(more(200), always(30), unseen).atMost).toBe("any time more");
        expect(concluded(more(200), always("bad"), always(30)).atLeast).toBe("any time less");
    });

    it.each([
        [factor(2), "more than any factor", "2x"],
        [more(200), "more than any time", "+200 ms"],
    ])("%j: is %s if no answer is good under attack", (limit, by, most) =>
        expect(describeChange(concluded(limit, always(30), always("bad")))).toBe(
            `p50 30 ms before, a bad answer under attack: ${by} (95% confidence: ${by}; required: at most ${most})`,
        ),
    );

    it("has a drop that is not decided above the limit", () => {
        const { atMost, isWithin } = concluded(drop(0.01), always(10, 365), always(10, 365));
        expect(isWithin).toBeUndefined();
        expect(numberIn(atMost)).toBeGreaterThan(1);
    });

    const outcomes = fc
        .tuple(fc.integer({ min: 1, max: 100_000 }), fc.nat(400), fc.integer({ min: 40, max: 400 }))
        .map(([latencyMs, bad, all]): Outcome[] =>
            Array.from({ length: all }, (_, index) => (bad > 0 && index % (bad + 1) === bad ? "bad" : latencyMs)),
        );
    const limits = fc.oneof(
        fc.integer({ min: 100, max: 400 }).map((number) => factor(number / 100)),
        fc.integer({ min: 1, max: 100_000 }).map((number) => more(number)),
        fc.integer({ min: 1, max: 300 }).map((number) => drop(number / 1_000)),
    );

    it("reads as within the limit exactly if it is, and no bound as more than it shows", () =>
        fc.assert(
            fc.property(limits, outcomes, outcomes, (limit, before, during) => {
                const change = changeOf(before, during, limit);
                const said = concludedChange(limit, change);
                const most = numberIn(describeLimit(limit));
                const isWithin =
                    numberIn(said.atMost) <= most ? true : numberIn(said.atLeast) > most ? false : undefined;
                expect(isWithin).toBe(change.isWithin);
                const unit = limit.of === "successRate" ? 100 : 1;
                expect(numberIn(said.atLeast)).toBeLessThanOrEqual(change.atLeast * unit + 1e-9);
                expect(numberIn(said.atMost)).toBeGreaterThanOrEqual(change.atMost * unit - 1e-9);
                expect(numberIn(said.atLeast)).toBeLessThanOrEqual(numberIn(said.by) + 1e-9);
                expect(numberIn(said.by)).toBeLessThanOrEqual(numberIn(said.atMost) + 1e-9);
            }),
            { numRuns: 500 },
        ));
});
