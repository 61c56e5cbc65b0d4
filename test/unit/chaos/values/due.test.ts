import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { divides, probesDue } from "../../../../chaos/values/due";

describe("the probes that are due", () => {
    it.each([
        ["the first at once", 1, 1_000, 0, 1],
        ["none at the end", 3_000, 1_000, 0, 3],
        ["one more if the interval does not divide the time", 3_001, 1_000, 0, 4],
        ["with an interval that is not exact", 1_000, 1_000 / 3, 0, 3],
        ["more than the time holds, if a grace period ends just before one", 30_000, 20_000, 15_000, 2],
        ["no more than it holds, if a grace period ends just after one", 30_000, 20_000, 5_000, 1],
        ["none, if a grace period ends just after one, and the interval is longer", 1_000, 60_000, 15_000, 0],
    ])("%s", (_, lengthMs, intervalMs, afterMs, number) =>
        expect(probesDue(lengthMs, intervalMs, afterMs)).toBe(number),
    );

    it("are no fewer than intervals in the time, and at most one more, whenever it begins", () =>
        fc.assert(
            fc.property(
                fc.integer({ min: 1, max: 60_000 }),
                fc.integer({ min: 20, max: 60_000 }),
                fc.integer({ min: 0, max: 60_000 }),
                (lengthMs, intervalMs, afterMs) => {
                    const extra = probesDue(lengthMs, intervalMs, afterMs) - Math.floor(lengthMs / intervalMs);
                    expect([0, 1]).toContain(extra);
                },
            ),
        ));
});

it.each([
    [250, 3_000, true],
    [250, 3_100, false],
    [1_000 / 3, 1_000, true],
    [1_000 / 11, 1_000, true],
    [91, 1_001, true],
    [91, 1_000, false],
    [1_000, 0, true],
])("as many probes are due whenever a time begins if the interval divides it: %d in %d ms", (interval, length, does) =>
    expect(divides(interval, length)).toBe(does),
);
