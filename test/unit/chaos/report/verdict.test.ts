import { describe, expect, it } from "vitest";
import type { Answer } from "../../../../chaos/kinds/checks/answer";
import { productsCheck } from "../../../../experiments/products";
import type { PlannedCheck } from "../../../../chaos/kinds/checks/observe";
import type { Outcome } from "../../../../chaos/values/compared";
import { reason, verdictAndCode } from "../../../../chaos/values/reasons";
import { judgeCheck, judgeChecks, type Judged, type Judging } from "../../../../chaos/report/judged-check";
import { measure, together } from "../../../../chaos/report/measured";
import { judge } from "../../../../chaos/report/verdict";

const attackedAt = 1_000_000;
const graceMs = 2_000;
const check: PlannedCheck = {
    name: "/products",
    check: productsCheck,
    intervalMs: 1_000,
    timeoutMs: 1_000,
    successRate: 1,
};

/** One answer a second since the attack was proven: `+` good, `-` bad. */
const answers = (strip: string): Answer[] =>
    [...strip].map((sign, second) => ({
        at: attackedAt + second * 1_000,
        latencyMs: 5,
        good: sign === "+",
        status: sign === "+" ? 200 : 502,
        problem: sign === "+" ? undefined : "status 502: hot-deals cannot be reached",
    }));
const judged = (strip: string, changes: Partial<PlannedCheck> = {}, grace = graceMs) =>
    judgeCheck({ ...check, ...changes }, answers(strip), { attackedAt, graceMs: grace });
const verdictOf = (strip: string, successRate = 1) => judge([judged(strip, { successRate })]).verdict;

describe("the verdict", () => {
    it.each([
        ["+++++++", "PASSED"],
        ["--+++++", "PASSED"],
        ["--++-++", "FAILED"],
        ["-------", "FAILED"],
        ["++++++-", "FAILED"],
    ])("%s is %s: bad answers count only after the grace period", (strip, verdict) =>
        expect(verdictOf(strip)).toBe(verdict),
    );

    it("tolerates as many bad answers as the success rate allows", () => {
        expect(verdictOf("+++++-+++++", 0.88)).toBe("PASSED");
        expect(verdictOf("+++++-+++++", 0.9)).toBe("FAILED");
    });

    it("is unknown if the answers that say nothing about the application decide it", () => {
        const unseen = answers("++++-").map((answer) => (answer.good ? answer : { ...answer, unseen: true as const }));
        const of = (successRate: number, more = unseen) =>
            judgeCheck({ ...check, successRate }, more, { attackedAt, graceMs: 0 });
        expect(of(1)).toMatchObject({
            held: false,
            inconclusive: {
                code: "application-not-seen",
                message:
                    "20% of 5 requests of the check /products did not reach the application; the last: status 502: " +
                    "hot-deals cannot be reached",
            },
        });
        expect(of(0.8)).toMatchObject({ held: true });
        expect(of(0.8).inconclusive).toBeUndefined();
        expect(of(1, [...unseen, answers("-")[0]!]).inconclusive).toBeUndefined();
        // As floating-point numbers 0.7 and 0.1 are less than 0.8.
        const nearly = answers("+++++++---").map((answer, index) =>
            index === 7 ? { ...answer, unseen: true as const } : answer,
        );
        expect(of(0.8, nearly).inconclusive!.message).toContain("10%");
    });

    it("does not call a check stable whose last answer was bad", () => {
        expect(judged("+++++++++-", { successRate: 0.5 })).toMatchObject({
            held: true,
            reason: expect.stringMatching(/; not stable: the last answer was bad\.$/),
        });
    });

    it("gives rates without rounding errors, and the required rate in full", () =>
        expect(judged(`${"+".repeat(29)}${"-".repeat(71)}`, { successRate: 0.9995 }, 0).reason).toMatch(
            /^29% of 100 .* \(required: 99\.95%; /,
        ));

    it.each(["", "++", "--"])("is unknown if no answer is counted: '%s'", (strip) =>
        expect(judged(strip)).toMatchObject({
            held: false,
            inconclusive: {
                code: "too-few-answers",
                message: expect.stringContaining("the check /products sent no request after the grace period"),
            },
        }),
    );

    it("does not speak of a grace period that there was not", () =>
        expect(judged("", {}, 0).inconclusive!.message).toContain("sent no request within the window"));

    it("gives the measured rate, the required rate and the last failure", () => {
        const { reason } = judge([judged("---", {}, 0)]);
        expect(reason).toContain(
            "0% of 3 requests to /products succeeded under attack (required: 100%; 95% confidence: at",
        );
        expect(reason).toContain("hot-deals cannot be reached");
    });
});

describe("a check that is compared with before the attack", () => {
    /** Latencies that are spread evenly between a half and one and a half of a number. */
    const around = (latencyMs: number, all: number): number[] =>
        Array.from({ length: all }, (_, index) => Math.round(latencyMs * (0.5 + ((index * 7_919) % 100) / 100)));
    const asAnswers = (outcomes: readonly Outcome[]): Answer[] =>
        outcomes.map((outcome, index) => ({
            at: attackedAt + index * 50,
            latencyMs: typeof outcome === "number" ? outcome : 5_000,
            good: typeof outcome !== "string",
            ...(typeof outcome === "object" && outcome),
            ...(typeof outcome === "string" && { problem: "status 502" }),
            ...(outcome === "unseen" && { unseen: true as const }),
        }));
    const compared = (
        before: readonly Outcome[],
        during: readonly Outcome[],
        changes: Partial<PlannedCheck> = {},
        judging: Partial<Judging> = {},
    ) =>
        judgeCheck(
            { ...check, intervalMs: 50, limits: [{ of: "p95", atMostTimes: 2 }], ...changes },
            asAnswers(during),
            { attackedAt, graceMs: 0, before, ...judging },
        );

    it("holds if no limit is exceeded, and says what the change is at most", () =>
        expect(compared(around(30, 600), around(35, 600))).toMatchObject({
            held: true,
            reason: expect.stringContaining(
                "; p95 43 ms before, 50 ms under attack: 1.2x (95% confidence: at most 1.3x; required: at most 2x); " +
                    "none failed.",
            ),
            changes: [{ of: "p95", before: "43 ms", during: "50 ms", isWithin: true }],
        }));

    it("fails if one is exceeded, although all answers are good, and says what the change is at least", () => {
        const judged = compared(around(30, 600), around(240, 600));
        expect(judged).toMatchObject({ held: false, changes: [{ by: "8x", atLeast: "7.6x", required: "2x" }] });
        expect(judged.inconclusive).toBeUndefined();
        expect(judge([judged])).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(
                /^100% of 600 requests to .* under attack .*; p95 43 ms before, 346 ms under attack: .*\)$/,
            ),
        });
    });

    it("fails if bad answers are among those that a quantile is of, whether they came or not", () => {
        const bad = around(30, 600).map((ms, index): Outcome => (index % 5 === 0 ? "bad" : ms));
        expect(compared(around(30, 600), bad, { successRate: undefined }).reason).toContain(
            "; p95 43 ms before, a bad answer under attack: ",
        );
    });

    it("is undecided if a limit is between the bounds, and says which times may decide it", () =>
        expect(compared(around(30, 150), around(58, 150)).inconclusive).toEqual({
            code: "limit-undecided",
            message: expect.stringMatching(
                new RegExp(
                    "95% confidence each: at least 1\\.\\d+x, at most 2(\\.\\d+)?x; required: at most 2x\\); " +
                        "about [\\d.]+ times as many answers of this kind may decide it: a baseline of \\d+s and " +
                        "a window of \\d+s$",
                ),
            ),
        }));

    it("says so if that would take longer than a baseline or a window may be", () => {
        const wouldTake = (changes: Partial<PlannedCheck>, judging?: Partial<Judging>) =>
            compared(around(30, 150), around(58, 150), changes, judging).inconclusive!.message;
        const none = "which no allowed time has at this interval: a baseline of at most ";
        expect(wouldTake({ intervalMs: 3_900 })).toContain(`${none}10m and a window of at most 1h`);
        expect(wouldTake({ intervalMs: 50 }, { longestBaselineMs: 8_000 })).toContain(`${none}8s and`);
    });

    it("says that answers lie unevenly, which show less", () => {
        const atOnce = around(30, 200).map((latency, index) => (index >= 100 && index < 114 ? 900 : latency));
        expect(compared(around(30, 200), atOnce).inconclusive!.message).toContain(
            "slow answers lie unevenly, so the 200 in the window count as ",
        );
    });

    it("needs no success rate if only its drop is limited", () => {
        const drop = { successRate: undefined, limits: [{ of: "successRate", atMostLess: 0.05 } as const] };
        const tenth = around(30, 600).map((latency, index): Outcome => (index % 10 === 3 ? "bad" : latency));
        expect(compared(tenth, tenth, drop)).toMatchObject({ held: true });
        expect(compared(around(30, 600), tenth, drop)).toMatchObject({
            held: false,
            reason: expect.stringContaining(
                "90% of 600 requests to /products succeeded under attack (95% confidence: at least 87.7%); " +
                    "success rate 100% before, 90% under attack: a drop of 10% (95% confidence: at least 7.1%; " +
                    "required: at most 5%)",
            ),
        });
    });

    it("does not fail, or hold, for what this machine was late", () => {
        const late = around(6, 300).map((ms, index) => (index % 3 === 0 ? { latencyMs: ms + 60, stalledMs: 60 } : ms));
        const inWindow = compared(around(6, 300), late);
        expect(judge([inWindow])).toEqual({
            verdict: "INCONCLUSIVE",
            code: "sender-stalled",
            reason:
                "100 of 300 requests of the check /products in the window, and 0 of 300 before it, were sent, or " +
                "their answers read, late, which leaves the limit of its p95 open.",
        });
        expect(compared(late, around(54, 300)).inconclusive).toMatchObject({ code: "sender-stalled" });
    });

    describe("is unknown for answers that did not see the application", () => {
        const ofDrop = { limits: [{ of: "successRate", atMostLess: 0.1 } as const] };
        const unseen = (all: readonly number[], is: (index: number) => boolean) =>
            all.map((latency, index): Outcome => (is(index) ? "unseen" : latency));
        const ofThird = unseen(around(30, 300), (n) => n % 10 < 3);
        const ofAll = unseen(around(30, 300), () => true);
        const judged = (during: readonly Outcome[], changes: Partial<PlannedCheck> = {}) =>
            compared(around(30, during.length), during, { successRate: undefined, ...changes });

        it.each([
            ["if the rate would hold as it is without them", judged(ofThird, ofDrop), "90 of 300", "success rate"],
            ["or a quantile", judged(ofThird), "90 of 300", "p95"],
            ["if there are no others", judged(ofAll, ofDrop), "300 of 300", "success rate"],
        ])("%s", (_, { inconclusive }, count, of) =>
            expect(inconclusive).toEqual({
                code: "application-not-seen",
                message: expect.stringMatching(
                    new RegExp(
                        `^${count} requests of the check /products in the window, and 0 of 300 before it, did not ` +
                            `reach the application, which leaves the limit of its ${of} open; the last: status 502$`,
                    ),
                ),
            }),
        );

        it("and has no change if there are no others", () => expect(judged(ofAll, ofDrop).changes).toEqual([]));

        it("but undecided if it would be so without them", () =>
            expect(judged(unseen(around(58, 150), (n) => n === 7)).inconclusive).toMatchObject({
                code: "limit-undecided",
            }));
    });

    it.each([
        ["its limit is the change", 1, 30, "the change is too near to its limit, 1x, to decide it by more answers"],
        [
            "whole milliseconds are too coarse",
            2,
            1,
            "with latencies in whole milliseconds, 1 ms cannot be limited by a factor of 2x: limit it by a time, " +
                "such as +20ms",
        ],
        [
            "a slow one is near its limit",
            2,
            1_000,
            "the change is too near to its limit, 2x, to decide it by more answers",
        ],
    ])("is undecided, however many answers there are, if %s", (_, atMostTimes, latencyMs, why) => {
        const same = new Array<number>(600).fill(latencyMs);
        const during = latencyMs < 1_000 ? same : same.map(() => 1_999);
        const { inconclusive } = compared(same, during, { limits: [{ of: "p95", atMostTimes }] });
        expect(inconclusive!.code).toBe("limit-undecided");
        expect(inconclusive!.message.split("; ").at(-1)).toBe(why);
    });

    it("is undecided if an abort rule of another check has ended the window", () => {
        const aborted = { check: "other", afterMs: 1, rate: "0%", answers: 1, below: "50%", overMs: 1 };
        expect(compared(around(30, 600), around(30, 600), {}, { aborted }).inconclusive).toMatchObject({
            code: "limit-undecided",
            message: expect.stringContaining("the window ended early"),
        });
    });

    it("fails although it is unknown whether its rate was reached, if a limit is exceeded beyond doubt", () => {
        const unseen = around(240, 600).map((latency, index): Outcome => (index === 7 ? "unseen" : latency));
        expect(compared(around(30, 600), unseen).inconclusive).toBeUndefined();
    });
});

describe("what the answers show", () => {
    const strip = (good: number, bad: number) => "+".repeat(good) + "-".repeat(bad);
    const shown = (good: number, bad: number, changes: Partial<PlannedCheck> = {}) =>
        judged(strip(good, bad), changes, 0);

    it("is said beside the rate: the least success rate if the check held, and the greatest if it did not", () => {
        const held = shown(15, 0);
        expect(held.reason).toBe(
            "100% of 15 requests to /products succeeded under attack (required: 100%; 95% confidence: at least " +
                "81.8%); none failed.",
        );
        expect(held.bound).toEqual({ level: "95%", atLeast: "81.8%", answers: 15 });
        const failed = shown(0, 15);
        expect(failed.reason).toMatch(
            /^0% of 15 .* \(required: 100%; 95% confidence: at most 18\.2%\); last failure: /,
        );
        expect(failed.bound).toEqual({ level: "95%", atMost: "18.2%", answers: 15 });
        expect(shown(45, 3, { successRate: 0.9 }).bound).toEqual({ level: "95%", atLeast: "84.6%", answers: 48 });
        expect(shown(299, 1).bound).toEqual({ level: "95%", atMost: "99.99%", answers: 300 });
    });

    it("is of the answers that count, and holds whatever those would have been that say nothing", () => {
        expect(judged(strip(17, 0)).bound).toMatchObject({ answers: 15 });
        const unseen = { at: attackedAt, latencyMs: 5, good: false, unseen: true } as const;
        const of = (successRate: number, strip: string) =>
            judgeCheck({ ...check, successRate }, [...answers(strip), unseen], { attackedAt, graceMs: 0 });
        expect(of(0.9, strip(19, 0)).bound).toEqual({ ...shown(19, 1, { successRate: 0.9 }).bound });
        expect(of(1, strip(14, 5)).bound).toEqual({ ...shown(15, 5).bound });
    });

    it("has how many requests did not reach the application, if the check failed", () => {
        const unseen = { at: attackedAt, latencyMs: 5, good: false, unseen: true } as const;
        const some = [...answers("-".repeat(6)), ...Array.from({ length: 9 }, () => unseen)];
        const { reason } = judgeCheck(check, some, { attackedAt, graceMs: 0 });
        expect(reason).toMatch(
            /^0% of 15 .*95% confidence: at most 81%\); 9 of 15 requests did not reach the application; last failure: /,
        );
        expect(shown(0, 15).reason).not.toContain("reach the application");
    });

    it.each<[string, Judged]>([
        ["of a check that reads a state", shown(15, 0, { check: { kind: "podsReady", of: "k8s.deployment=a" } })],
        ["if no answer counts", judged("++")],
        [
            "if those decide that say nothing",
            judgeCheck(check, [{ ...answers("-")[0]!, unseen: true }], { attackedAt, graceMs: 0 }),
        ],
    ])("is nothing %s", (_, { bound }) => expect(bound).toBeUndefined());

    it("is nothing once an abort rule has ended the window: it ends it when many answers are bad", () => {
        const aborted = { check: "other", afterMs: 1, rate: "0%", answers: 2, below: "50%", overMs: 1_000 };
        for (const sign of "+-") {
            const { bound, reason } = judgeCheck(check, answers(sign.repeat(15)), { attackedAt, graceMs: 0, aborted });
            expect(bound).toBeUndefined();
            expect(reason).toContain(" (required: 100%); ");
        }
        const confidence = { atLeast: 0.5, level: 0.95 };
        expect(
            judgeCheck({ ...check, confidence }, answers(strip(15, 0)), { attackedAt, graceMs: 0, aborted }),
        ).toMatchObject({ held: false, inconclusive: { message: expect.stringMatching(/; the window ended early$/) } });
    });

    const confidence = { atLeast: 0.99, level: 0.95 };
    it("is enough for PASSED only if it is what is required", () => {
        const enough = shown(299, 0, { confidence });
        expect(enough).toMatchObject({ held: true, bound: { atLeast: "99%" } });
        expect(enough.reason).toContain(
            " (required: 100%; 95% confidence: at least 99%, required: at least 99%); none",
        );
        expect(judge([shown(298, 0, { confidence })])).toEqual({
            verdict: "INCONCLUSIVE",
            code: "confidence-not-reached",
            reason:
                "100% of 298 requests to /products succeeded under attack (required: 100%; 95% confidence: at least " +
                "98.9%, required: at least 99%); to show 99% takes 299 answers.",
        });
        expect(shown(298, 0, { confidence }).bound).toBeUndefined();
        expect(judge([shown(298, 1, { confidence, successRate: 0.99 })]).reason).toMatch(
            /required: at least 99%\); to show 99% takes 473 answers if no more than 1 of them is bad\.$/,
        );
        expect(judge([shown(99, 1, { confidence, successRate: 0.99 })]).reason).toMatch(
            /required: at least 99%\); at this rate, no number of answers shows 99%\.$/,
        );
        const stalled = { at: attackedAt, latencyMs: 5, good: false, unseen: true, stalledMs: 1_200 } as const;
        const planned = { ...check, successRate: 0.9, confidence: { atLeast: 0.95, level: 0.95 } };
        const answered = [...answers(strip(366, 0)), ...Array.from({ length: 34 }, () => stalled)];
        expect(judgeCheck(planned, answered, { attackedAt, graceMs: 0 }).inconclusive?.message).toContain(
            "; 34 of 400 requests of the check",
        );
        expect(shown(299, 0, { confidence: { atLeast: 0.99, level: 0.99 } }).inconclusive?.message).toContain(
            "99% confidence: at least 98.4%, required: at least 99%); to show 99% takes 459 answers",
        );
    });

    it("does not matter for a check that failed", () =>
        expect(judge([shown(14, 1, { confidence })])).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(/95% confidence: at most 99\.7%\); last failure/),
        }));
});

describe("the verdict of a check whose requests this machine could not send in time", () => {
    /** Of 100 answers, some of which are bad, unseen for this machine's delay, or unseen for another reason. */
    const judgedWith = (of: { stalled: number; bad?: number; lost?: number }, successRate: number) => {
        const { stalled, bad = 0, lost = 0 } = of;
        const rest = answers("+".repeat(100 - stalled - bad - lost));
        const late = (answer: Answer): Answer => ({ ...answer, unseen: true, stalledMs: 1_000 });
        const given = [
            ...answers("-".repeat(stalled)).map(late),
            ...answers("-".repeat(lost)).map((answer): Answer => ({ ...answer, unseen: true })),
            ...answers("-".repeat(bad)),
            ...rest,
        ];
        return judge([judgeCheck({ ...check, successRate }, given, { attackedAt, graceMs: 0 })]);
    };
    const told = (stalled: number) =>
        `${stalled} of 100 requests of the check /products were not sent, or the answer not read, in time: the ` +
        "sender stalled for up to 1 s";

    it.each([
        ["PASSED", "the others are enough, and they are no more than 10%", { stalled: 10 }, 0.9],
        ["INCONCLUSIVE (sender-stalled)", "they are more, even if the others are enough", { stalled: 11 }, 0.5],
        ["INCONCLUSIVE (sender-stalled)", "the others are not enough", { stalled: 2 }, 1],
        ["INCONCLUSIVE (sender-stalled)", "at least half of what is unseen is", { stalled: 2, lost: 2 }, 1],
        ["FAILED", "the others fail it, whatever these would have been", { stalled: 40, bad: 10 }, 0.95],
    ])("is %s if %s, and says how many they are", (verdict, _, of, rate) => {
        const judged = judgedWith(of, rate);
        expect(verdictAndCode(judged)).toBe(verdict);
        expect(judged.reason).toContain(told(of.stalled));
    });

    it("has another reason if most of what decides was sent", () =>
        expect(judgedWith({ stalled: 2, lost: 3 }, 1).code).toBe("application-not-seen"));

    it.each([
        ["many were late", 11, 300, true],
        ["few were", 10, 300, false],
        ["they were by little", 50, 99, false],
    ])("says of those that count whether %s", (_, late, stalledMs, isTold) => {
        const given = [
            ...answers("+".repeat(late)).map((answer): Answer => ({ ...answer, stalledMs })),
            ...answers("+".repeat(100 - late)),
        ];
        const { verdict, reason } = judge([judgeCheck(check, given, { attackedAt, graceMs: 0 })]);
        expect(verdict).toBe("PASSED");
        const text =
            "; 11 of 100 requests of the check /products were sent, or their answers read, up to 300 ms late, " +
            "and count.";
        expect(reason.includes(text)).toBe(isTold);
        expect(reason.includes("late")).toBe(isTold);
    });

    it("says once what is not known", () =>
        expect(judgedWith({ stalled: 3, lost: 2 }, 0.9).reason).toMatch(
            new RegExp(`; none failed, but 2 did not see the application; ${told(3)}\\.$`),
        ));
});

describe("the verdict of several checks", () => {
    const ready: Partial<PlannedCheck> = {
        name: "pods",
        check: { kind: "podsReady", of: "k8s.deployment=hot-deals", atLeast: 2 },
    };

    it("is PASSED only if each check held, and names each", () => {
        const { verdict, reason } = judge([judged("+++++"), judged("+++++", ready)]);
        expect(verdict).toBe("PASSED");
        expect(reason).toMatch(
            /requests to \/products succeeded.*checks found 2 or more ready pods of k8s\.deployment=hot-deals/,
        );
    });

    it("is FAILED if one check did not hold, and names only that one", () => {
        const { verdict, reason } = judge([judged("+++++"), judged("++-++", ready)]);
        expect(verdict).toBe("FAILED");
        expect(reason).toMatch(/^66\.6% of 3 checks found 2 or more ready pods/);
        expect(reason).not.toContain("/products");
    });

    const [held, failed, unknown] = [judged("+++++"), judged("+++--", ready), judged("++", { name: "seldom" })];
    it.each([
        ["PASSED", "every check held", [held]],
        ["FAILED", "one failed", [held, failed]],
        ["FAILED", "one failed beyond doubt, whatever another did not see", [unknown, failed]],
        ["INCONCLUSIVE", "none failed beyond doubt, and one is unknown", [held, unknown]],
    ])("is %s if %s; INCONCLUSIVE without a proven attack", (verdict, _when, checks) => {
        expect(judge(checks).verdict).toBe(verdict);
        const unproven = { verdict: "INCONCLUSIVE", code: "clock-shift", reason: "it slept." };
        expect(judge(checks, [undefined, reason("clock-shift", "it slept")])).toEqual(unproven);
    });

    it("tells checks apart by their names where they count the same", () => {
        const names = ["in my session", "others"];
        const checks = names.map((name) => ({ ...check, name }));
        const [mine, others] = judgeChecks({
            plan: { attacks: [], checks, window: { graceMs, durationMs: 1 } },
            checks: names.map((name) => ({ name, answers: answers(name === "others" ? "+++++" : "++---") })),
            startedAt: attackedAt,
        });
        expect(mine!.reason).toMatch(/^in my session: 0% of 3 requests to \/products succeeded/);
        expect(others!.reason).toMatch(/^others: 100% of 3/);
    });

    it("names the check that is unknown, or only those that failed", () => {
        expect(judge([held, unknown])).toMatchObject({
            code: "too-few-answers",
            reason: expect.stringContaining("the check seldom sent no request"),
        });
        expect(judge([unknown, failed]).reason).toMatch(/^33\.3% of 3 checks found/);
    });
});

describe("measurements", () => {
    const measured = (strip: string, grace = 0) => measure(answers(strip), attackedAt, grace);
    it("time to the first failure and to stability count from the proof of the attack", () => {
        expect(measure(answers("++--+++"), attackedAt, 2_000)).toEqual({
            requests: 7,
            counted: 5,
            good: 3,
            unseen: 0,
            firstFailureMs: 2_000,
            stableAfterMs: 4_000,
        });
    });
    it("no time is negative, even if the clock was set back since the attack was proven", () => {
        const early = answers("-+++").map((answer) => ({ ...answer, at: answer.at - 500 }));
        expect(measure(early, attackedAt, 0)).toMatchObject({ firstFailureMs: 0, stableAfterMs: 500 });
    });
    it.each<[string, string, number | undefined, number | undefined]>([
        ["never failed was stable from the start", "+++", undefined, 0],
        ["was bad last never became stable", "+-", 1_000, undefined],
        ["has no answers never was", "", undefined, undefined],
    ])("a check that %s", (_, strip, firstFailureMs, stableAfterMs) => {
        expect(measure(answers(strip), attackedAt, 0)).toMatchObject({ firstFailureMs, stableAfterMs });
    });
    it("a look that did not see the application is neither its failure nor the end of its stability", () => {
        const [one, two, three] = answers("+-+");
        expect(measure([one!, { ...two!, unseen: true }, three!], attackedAt, 0)).toMatchObject({
            good: 2,
            unseen: 1,
            firstFailureMs: undefined,
            stableAfterMs: 0,
        });
    });
    it("several checks are stable when the last of them is, and failed when the first of them did", () => {
        const both = together([measured("+--++", 1_000), measured("++-+++++", 1_000)]);
        expect(both).toEqual({
            requests: 13,
            counted: 11,
            good: 8,
            unseen: 0,
            firstFailureMs: 1_000,
            stableAfterMs: 3_000,
        });
        expect(together([measured("+++"), measured("++-")]).stableAfterMs).toBeUndefined();
    });
});
