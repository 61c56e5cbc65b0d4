import { describe, expect, it } from "vitest";
import type { Answer } from "../../../../chaos/kinds/checks/answer";
import { judgeCheck } from "../../../../chaos/report/judged-check";
import { percentage } from "../../../../components/configuration/readers";
import { productsCheck } from "../../../../experiments/products";

const tenths = Array.from({ length: 1_000 }, (_, index) => index + 1);

/** Whether a check held of which some of 1,000 answers were good. */
function held(count: number, successRate: string): boolean {
    const check = { name: "/products", check: productsCheck, intervalMs: 20, timeoutMs: 1_000 };
    const answers = tenths.map((at): Answer => ({ at, latencyMs: 5, good: at <= count }));
    return judgeCheck({ ...check, successRate: percentage.read(successRate)! }, answers, { attackedAt: 0, graceMs: 0 })
        .held;
}

describe("a percentage of good answers, as it is written in the configuration, is compared exactly", () => {
    it("999 of 1,000 are 99.9%", () => expect(held(999, "99.9%")).toBe(true));

    it("to the tenth", () => {
        expect(tenths.filter((tenth) => !held(tenth, `${tenth / 10}%`))).toEqual([]);
        expect(tenths.filter((tenth) => held(tenth - 1, `${tenth / 10}%`))).toEqual([]);
    });
});
