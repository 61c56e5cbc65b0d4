import { describe, expect, it } from "vitest";
import type { Answer } from "../../../experiments/checks/answer";
import { productsCheck } from "../../../experiments/checks/products";
import { askThrough } from "../../../experiments/checks/window";
import type { PlannedCheck } from "../../../experiments/plan";
import { judge, judgeCheck, measure, percent, together } from "../../../experiments/verdict";

const attackedAt = 1_000_000;
const graceMs = 2_000;
const check: PlannedCheck = {
    name: "/products",
    check: productsCheck,
    intervalMs: 1_000,
    timeoutMs: 1_000,
    successRate: 1,
};

/** One answer a second since the attack began: `+` good, `-` bad. */
const answers = (strip: string): Answer[] =>
    [...strip].map((sign, second) => ({
        at: attackedAt + second * 1_000,
        latencyMs: 5,
        good: sign === "+",
        status: sign === "+" ? 200 : 502,
        problem: sign === "+" ? undefined : "status 502: hot-deals cannot be reached",
    }));
const judged = (strip: string, changes: Partial<PlannedCheck> = {}, grace = graceMs) =>
    judgeCheck({ ...check, ...changes }, answers(strip), attackedAt, grace);
const verdictOf = (strip: string, successRate = 1) => judge([judged(strip, { successRate })]).verdict;

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

    it("is not known where it is what nobody could see that decides", () => {
        const unseen = answers("++++-").map((answer) => (answer.good ? answer : { ...answer, unseen: true as const }));
        const of = (successRate: number, more = unseen) => judgeCheck({ ...check, successRate }, more, attackedAt, 0);
        expect(of(1)).toMatchObject({
            held: false,
            doubt: "to 20% of what /products asked the API server did not answer",
        });
        expect(of(0.8)).toMatchObject({ held: true });
        expect(of(0.8).doubt).toBeUndefined();
        expect(of(1, [...unseen, answers("-")[0]!]).doubt).toBeUndefined();
        // As floating-point numbers 0.7 and 0.1 are less than 0.8.
        const nearly = answers("+++++++---").map((answer, index) =>
            index === 7 ? { ...answer, unseen: true as const } : answer,
        );
        expect(of(0.8, nearly).doubt).toContain("10%");
    });

    it("says what was seen, in a sentence with the last failure", () => {
        const { reason } = judge([judged("---", {}, 0)]);
        expect(reason).toContain("0% of 3 counted requests");
        expect(reason).toContain("hot-deals cannot be reached");
    });
});

describe("the verdict of several checks", () => {
    const ready: Partial<PlannedCheck> = {
        name: "pods",
        check: { kind: "podsReady", of: "k8s.deployment=hot-deals", atLeast: 2 },
    };

    it("is PASSED only if each held, and then tells of each", () => {
        const { verdict, reason } = judge([judged("+++++"), judged("+++++", ready)]);
        expect(verdict).toBe("PASSED");
        expect(reason).toMatch(
            /requests to \/products were answered well.*looks at the pods of k8s\.deployment=hot-deals found at least 2 ready/,
        );
    });

    it("is FAILED where one did not hold, and tells of that one alone", () => {
        const { verdict, reason } = judge([judged("+++++"), judged("++-++", ready)]);
        expect(verdict).toBe("FAILED");
        expect(reason).toMatch(/^Only 66\.6% of 3 counted looks at the pods/);
        expect(reason).not.toContain("/products");
    });
});

describe("measurements", () => {
    it("time to the first failure and to stability count from when the attack took hold", () => {
        expect(measure(answers("++--+++"), attackedAt, 2_000)).toEqual({
            requests: 7,
            counted: 5,
            successRate: 3 / 5,
            unseenRate: 0,
            firstFailureMs: 2_000,
            stableAfterMs: 4_000,
        });
    });
    it("what never failed was stable from the beginning", () => {
        expect(measure(answers("+++"), attackedAt, 0)).toMatchObject({ firstFailureMs: undefined, stableAfterMs: 0 });
    });
    it("what ended badly never got stable", () => {
        expect(measure(answers("+-"), attackedAt, 0).stableAfterMs).toBeUndefined();
    });
    it("where nothing was asked, nothing was stable", () =>
        expect(measure([], attackedAt, 0).stableAfterMs).toBeUndefined());
    it("several checks are stable together once the last of them is, and failed when the first of them did", () => {
        const both = together([
            measure(answers("+--++"), attackedAt, 1_000),
            measure(answers("++-+++++"), attackedAt, 1_000),
        ]);
        expect(both).toEqual({
            requests: 13,
            counted: 11,
            successRate: 8 / 11,
            unseenRate: 0,
            firstFailureMs: 1_000,
            stableAfterMs: 3_000,
        });
        expect(
            together([measure(answers("+++"), attackedAt, 0), measure(answers("++-"), attackedAt, 0)]).stableAfterMs,
        ).toBeUndefined();
    });
    it("99.96% never reads as 100%", () => expect(percent(0.9996)).toBe("99.9%"));
});

describe("the check asks at a steady rate", () => {
    it("whether or not the answers before have come", async () => {
        let asked = 0;
        const slow = () =>
            new Promise<Answer>((resolve) => (asked++, setTimeout(() => resolve(answers("+")[0]!), 120)));
        const begun = performance.now();
        expect(await askThrough(slow, 400, 20)).toHaveLength(20);
        expect(asked).toBe(20);
        expect(performance.now() - begun).toBeLessThan(900);
    });
});
