import { describe, expect, it } from "vitest";
import type { Answer } from "../../../experiments/checks/products";
import { askThrough } from "../../../experiments/checks/window";
import type { Window } from "../../../experiments/plan";
import { judge, measure, percent } from "../../../experiments/verdict";

const attackedAt = 1_000_000;
const window: Window = { durationMs: 5_000, intervalMs: 1_000, timeoutMs: 1_000, graceMs: 2_000, successRate: 1 };

/** One answer a second since the attack began: `+` good, `-` bad. */
const answers = (strip: string): Answer[] =>
    [...strip].map((sign, second) => ({ at: attackedAt + second * 1_000, latencyMs: 5, good: sign === "+", status: sign === "+" ? 200 : 502, problem: sign === "+" ? undefined : "status 502: hot-deals cannot be reached" }));
const verdictOf = (strip: string, successRate = 1) => judge(measure(answers(strip), attackedAt, window.graceMs), { ...window, successRate }, answers(strip)).verdict;

describe("the verdict", () => {
    it.each([
        ["+++++++", "PASSED"],
        ["--+++++", "PASSED"],
        ["--++-++", "FAILED"],
        ["-------", "FAILED"],
        ["++++++-", "FAILED"],
        ["", "FAILED"],
    ])("%s is %s: bad answers count only after the grace", (strip, verdict) => expect(verdictOf(strip)).toBe(verdict));

    it("tolerates as many bad answers as the success rate allows", () => {
        expect(verdictOf("+++++-+++++", 0.88)).toBe("PASSED");
        expect(verdictOf("+++++-+++++", 0.9)).toBe("FAILED");
    });

    it("says what was seen, in a sentence with the last failure", () => {
        const { reason } = judge(measure(answers("---"), attackedAt, 0), window, answers("---"));
        expect(reason).toContain("0% of 3 counted requests");
        expect(reason).toContain("hot-deals cannot be reached");
    });
});

describe("measurements", () => {
    it("time to the first failure and to stability count from when the attack took hold", () => {
        expect(measure(answers("++--+++"), attackedAt, 2_000)).toEqual({ requests: 7, counted: 5, successRate: 3 / 5, firstFailureMs: 2_000, stableAfterMs: 4_000 });
    });
    it("what never failed was stable from the beginning", () => {
        expect(measure(answers("+++"), attackedAt, 0)).toMatchObject({ firstFailureMs: undefined, stableAfterMs: 0 });
    });
    it("what ended badly never got stable", () => {
        expect(measure(answers("+-"), attackedAt, 0).stableAfterMs).toBeUndefined();
    });
    it("99.96% never reads as 100%", () => expect(percent(0.9996)).toBe("99.9%"));
});

describe("the check asks at a steady rate", () => {
    it("whether or not the answers before have come", async () => {
        let asked = 0;
        const slow = () => new Promise<Answer>((resolve) => (asked++, setTimeout(() => resolve(answers("+")[0]!), 120)));
        const begun = performance.now();
        expect(await askThrough(slow, 400, 20)).toHaveLength(20);
        expect(asked).toBe(20);
        expect(performance.now() - begun).toBeLessThan(900);
    });
});
