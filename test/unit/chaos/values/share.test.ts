import { describe, expect, it } from "vitest";
import type { Answer } from "../../../../chaos/kinds/checks/answer";
import { judgeCheck } from "../../../../chaos/report/judged-check";
import { percentOf } from "../../../../chaos/values/share";
import { containersWithin, parseRadius } from "../../../../chaos/targets/radius";

const tenths = Array.from({ length: 1_000 }, (_, index) => index + 1);
const thousand: Answer[] = tenths.map((at) => ({ at, latencyMs: 5, good: false }));
const good = (count: number) => thousand.map((answer, index) => ({ ...answer, good: index < count }));

/** Whether a check held of which some of 1,000 answers were good. */
function held(count: number, successRate: number): boolean {
    const check = { kind: "http", path: "/products" } as const;
    const planned = { name: "/products", check, intervalMs: 20, timeoutMs: 1_000, successRate };
    return judgeCheck(planned, good(count), { attackedAt: 0, graceMs: 0 }).held;
}

describe("a percentage is compared exactly, to the tenth", () => {
    it("of good answers, computed in a definition", () => {
        const rateOf = (tenth: number) => tenth / 10 / 100;
        expect(tenths.filter((tenth) => !held(tenth, rateOf(tenth)))).toEqual([]);
        expect(tenths.filter((tenth) => held(tenth - 1, rateOf(tenth)))).toEqual([]);
    });

    it("of containers", () => {
        const allowed = (tenth: number) => containersWithin(parseRadius(`${tenth / 10}%`)!, 1_000);
        expect(tenths.filter((tenth) => allowed(tenth) !== tenth)).toEqual([]);
    });
});

it.each([
    [9_996, 10_000, "99.96%"],
    [299, 300, "99.6%"],
    [179_999, 180_000, "99.999%"],
    [180_000, 180_000, "100%"],
    [1, 1_001, "0.09%"],
    [0, 1_001, "0%"],
    [0, 0, "0%"],
])("%i of %i read as %3$s: never as 100% unless they are", (some, all, text) =>
    expect(percentOf(some, all)).toBe(text),
);
