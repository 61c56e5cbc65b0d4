import { describe, expect, it } from "vitest";
import { fallsBelow } from "../../../../../chaos/kinds/checks/abort";
import type { Answer } from "../../../../../chaos/kinds/checks/answer";

/** One answer a second: `+` good, `-` bad, `?` did not see the application. */
const answers = (strip: string): Answer[] =>
    [...strip].map((sign, second) => ({
        at: second * 1_000,
        latencyMs: 5,
        good: sign === "+",
        ...(sign === "?" && { unseen: true as const }),
    }));
const falls = (strip: string, below = 0.5, overMs = 10_000, intervalMs = 1_000) =>
    fallsBelow({ below, overMs }, intervalMs, answers(strip));

describe("an abort rule of 50% over ten answers", () => {
    it.each<[what: string, strip: string, found: ReturnType<typeof falls>]>([
        ["waits until the time has passed", "---------", undefined],
        ["ends the run then", "----------", { good: 0, seen: 10 }],
        ["keeps a run at the limit", "+-+-+-+-+-", undefined],
        ["ends one below it", "--+-+-+-+-", { good: 4, seen: 10 }],
        ["looks at the last answers only", "++++++++++-----", undefined],
        ["finds a late fall", "++++++++++------", { good: 4, seen: 10 }],
        ["forgives an early one", "------++++++++++", undefined],
        ["does not count unseen answers as bad", "-----?????", undefined],
        ["ends the run if they cannot change it", "------????", { good: 0, seen: 6 }],
        ["tells the rate of those that were seen", "+-------??", { good: 1, seen: 8 }],
        ["knows nothing if none was seen", "??????????", undefined],
    ])("%s: %s", (_, strip, found) => expect(falls(strip)).toEqual(found));
});

it("an abort rule with a high limit wants half of the answers seen", () => {
    expect(falls("----??????", 0.9)).toBeUndefined();
    expect(falls("-----?????", 0.9)).toEqual({ good: 0, seen: 5 });
});

it("the limit is compared exactly, as the required success rate is", () => {
    // As floating-point numbers, 0.07 of 100 are more than 7.
    expect(falls("+".repeat(7) + "-".repeat(93), 0.07, 100_000)).toBeUndefined();
    expect(falls("+".repeat(6) + "-".repeat(94), 0.07, 100_000)).toEqual({ good: 6, seen: 100 });
});

it.each([
    [10_000, 1_000 / 3, 30],
    [10_000, 3_000, 4],
    [1_000, 20, 50],
])("over %i ms at an interval of %d ms, %i answers are due", (overMs, intervalMs, due) => {
    expect(falls("-".repeat(due - 1), 0.5, overMs, intervalMs)).toBeUndefined();
    expect(falls("-".repeat(due), 0.5, overMs, intervalMs)).toEqual({ good: 0, seen: due });
});
