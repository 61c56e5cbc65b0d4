import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Answer, answerDue, answerOf } from "../../../../../chaos/kinds/checks/answer";
import type { CheckContext } from "../../../../../chaos/kinds/checks/check-kind";
import { http } from "../../../../../chaos/kinds/checks/http";
import { jitterMs } from "../../../../../chaos/kinds/checks/stalls";
import {
    askThrough,
    type AskedWindow,
    keptOf,
    problemsOf,
    untilAllHold,
} from "../../../../../chaos/kinds/checks/observe";
import { latencyWithin } from "../../../../../chaos/report/strips";
import { judgeCheck } from "../../../../../chaos/report/judged-check";
import { settled, startClock, stopClock } from "../../support/time";

beforeEach(stopClock);
afterEach(() => {
    vi.restoreAllMocks();
    startClock();
});

const good: Answer = { at: 0, latencyMs: 5, good: true };
const check = { name: "/", check: { kind: "http", path: "/" } as const, intervalMs: 500, timeoutMs: 1_000 };

/** Lets time pass in which nothing runs. */
function stall(ms: number): void {
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + ms);
}

it("a check asks at a fixed rate, even if earlier answers are missing", async () => {
    const askedAt: number[] = [];
    const slow = () =>
        new Promise<Answer>((resolve) => {
            askedAt.push(performance.now());
            setTimeout(() => resolve(good), 120);
        });
    const begun = performance.now();
    const answers = askThrough(slow, 400, 20);
    expect(await settled(answers)).toHaveLength(20);
    expect(askedAt.map((at) => at - begun)).toEqual(Array.from({ length: 20 }, (_, index) => index * 20));
});

it("a check tells its answers in the order of asking, and asks no more after a signal", async () => {
    let asked = 0;
    const told: number[] = [];
    const ending = new AbortController();
    const ask = async () => {
        const latencyMs = ++asked === 2 ? 50 : 5;
        const status = asked;
        await new Promise((resolve) => setTimeout(resolve, latencyMs));
        return { ...good, status };
    };
    const onAnswer = ({ status }: Answer) => {
        told.push(status!);
        if (status === 4) ending.abort();
    };
    const begun = performance.now();
    const answers = await settled(askThrough(ask, 60_000, 20, { onAnswer, signal: ending.signal }));
    expect(told.slice(0, 4)).toEqual([1, 2, 3, 4]);
    expect(answers).toHaveLength(asked);
    expect(told).toHaveLength(asked);
    expect(asked).toBe(4);
    expect(performance.now() - begun).toBeLessThan(1_000);
});

describe("a check that is asked before its window is known", () => {
    /** Asks every 100 ms. After 1,050 ms, the window is known: 1 s since `fromMs`. */
    const around = async (fromMs: number, intervalMs = 100) => {
        const begunAt = Date.now();
        const from = performance.now() + fromMs;
        const told: number[] = [];
        const window = new Promise<AskedWindow>((resolve) =>
            setTimeout(() => resolve({ from, lengthMs: 1_000 }), 1_050),
        );
        const ask = async () => ({ ...good, at: Date.now() });
        const onAnswer = ({ at }: Answer) => void told.push(at - begunAt);
        const answers = await settled(askThrough(ask, window, intervalMs, { onAnswer }));
        expect(told).toEqual(answers.map(({ at }) => at - begunAt));
        return { told, tookMs: Date.now() - begunAt };
    };

    it.each([0, 50, 100, 999, 1_050])("has a whole window of answers, %d ms after the first probe", async (from) => {
        const { told, tookMs } = await around(from);
        expect(told).toHaveLength(10);
        expect(told[0]).toBe(Math.ceil(from / 100) * 100);
        expect(told.at(-1)).toBeLessThan(from + 1_000);
        expect(tookMs).toBeGreaterThanOrEqual(from + 1_000);
        expect(tookMs).toBeLessThan(from + 1_200);
    });

    it("counts from its first probe if the window began before that, and as many", async () =>
        expect((await around(-500)).told).toEqual(Array.from({ length: 10 }, (_, index) => index * 100)));

    it("waits for no answer of before the window", async () => {
        let asked = 0;
        const ask = async () => {
            if (++asked === 1) await new Promise((resolve) => setTimeout(resolve, 60_000));
            return good;
        };
        const from = performance.now() + 50;
        const window = new Promise<AskedWindow>((resolve) =>
            setTimeout(() => resolve({ from, lengthMs: 1_000 }), 1_050),
        );
        expect(await settled(askThrough(ask, window, 100))).toHaveLength(10);
        expect(performance.now() - from).toBeLessThan(1_200);
    });

    it("has no answer of after the window, if that is over by then", async () => {
        const { told, tookMs } = await around(0, 500);
        expect(told).toEqual([0, 500]);
        expect(tookMs).toBeLessThan(1_600);
    });
});

describe("requests that this machine did not send when they were due", () => {
    it("are not sent later in a burst: nothing is known of these moments", async () => {
        let asked = 0;
        const ask = async () => {
            asked++;
            return { ...good, at: Date.now() };
        };
        const begunAt = Date.now();
        const asking = askThrough(ask, 10_000, 1_000 / 3);
        setTimeout(() => stall(5_000), 1_500);
        const answers = await settled(asking);
        const unseen = answers.filter((answer) => answer.unseen);
        expect(answers).toHaveLength(30);
        expect(unseen).toHaveLength(12);
        expect(asked).toBe(18);
        expect(unseen[0]).toEqual({
            at: begunAt + 1_667,
            latencyMs: 4_999,
            good: false,
            problem: "this machine was busy or asleep for 5 s",
            unseen: true,
            stalledMs: 4_999,
        });
    });

    it.each([1, 0.5])("make the verdict unknown, even if a rate of %d was reached", async (successRate) => {
        const begunAt = Date.now();
        const asking = askThrough(async () => good, 10_000, 500);
        setTimeout(() => stall(5_000), 1_500);
        const judged = judgeCheck({ ...check, successRate }, await settled(asking), {
            attackedAt: begunAt,
            graceMs: 0,
        });
        const message =
            "8 of 20 requests of the check / were not sent, or the answer not read, in time: the sender stalled for " +
            "up to 5 s";
        expect(judged).toMatchObject({
            held: false,
            inconclusive: { code: "sender-stalled", message: expect.stringContaining(message) },
        });
    });
});

describe("a request that is sent late", () => {
    /** The answers around a stall of 600 ms from 1.6 s on. */
    const around = async (limitMs: number) => {
        const begunAt = Date.now();
        const asking = askThrough(async () => good, 4_000, 500, { limitMs });
        setTimeout(() => stall(600), 1_600);
        const answers = await settled(asking);
        return answers.slice(3, 7).map(({ at, ...answer }) => ({ ...answer, at: at - begunAt }));
    };

    it("has a latency since it was due", async () => {
        const latencies = (await around(1_000)).map(({ at, latencyMs }) => [at, latencyMs]);
        expect(latencies).toEqual([
            [1_500, 5],
            [2_000, 605],
            [2_500, 105],
            [3_000, 5],
        ]);
    });

    it("says nothing if it would be good without that: neither is this machine's time the application's", async () => {
        const answers = await around(500);
        expect(answers.map((answer) => answer.good)).toEqual([true, false, true, true]);
        expect(answers[1]).toMatchObject({
            unseen: true,
            stalledMs: 600,
            problem: "good 605 ms after it was due (required: at most 500 ms), but this machine sent it 600 ms late",
        });
    });

    it("says how late it was, also if it counts", async () =>
        expect((await around(1_000)).map(({ stalledMs }) => stalledMs)).toEqual([undefined, 600, 100, undefined]));
});

describe("requests that are sent at once after a stall", () => {
    /** The answers of an application that rejects more than two requests in 20 ms, around a stall from 1 s on. */
    const around = async (stallMs: number, rejects = (others: number) => others > 2) => {
        const askedAt: number[] = [];
        const ask = async () => {
            askedAt.push(performance.now());
            const others = askedAt.filter((at) => at > performance.now() - 20).length;
            await new Promise((resolve) => setTimeout(resolve, 5));
            return rejects(others) ? { ...good, good: false, status: 429, problem: "status 429" } : good;
        };
        const asking = askThrough(ask, 3_000, 20, { limitMs: 1_000 });
        setTimeout(() => stall(stallMs), 1_000);
        return settled(asking);
    };

    it("say nothing if they fail: they are more than the load of the check", async () => {
        const bad = (await around(400)).filter((answer) => !answer.good);
        expect(bad.length).toBeGreaterThan(10);
        for (const answer of bad)
            expect(answer).toMatchObject({
                unseen: true,
                stalledMs: expect.closeTo(400, -2),
                problem: "status 429, sent with others at once after this machine was busy or asleep",
            });
    });

    it("are good if they succeed", async () =>
        expect((await around(400, () => false)).every((answer) => answer.good)).toBe(true));

    it("hide no failure of those sent in time, even before they are answered", async () => {
        const begunAt = Date.now();
        const unanswered = async () => {
            await new Promise((resolve) => setTimeout(resolve, 2_000));
            return { ...good, good: false, problem: "no answer within 2000 ms" };
        };
        const asking = askThrough(unanswered, 3_000, 50, { limitMs: 2_000 });
        setTimeout(() => stall(300), 100);
        const unseen = (await settled(asking)).filter((answer) => answer.unseen);
        expect(unseen.length).toBeGreaterThan(2);
        expect(unseen.length).toBeLessThan(8);
        for (const { at } of unseen) expect(at - begunAt).toBeLessThanOrEqual(400);
    });

    it("hide no failure of the others", async () => {
        const answers = await around(400, () => true);
        expect(answers.filter((answer) => !answer.unseen).length).toBeGreaterThan(120);
        expect(answers.slice(-40).some((answer) => answer.unseen)).toBe(false);
    });
});

describe("who was late at the edge of the limit", () => {
    const limitMs = 500;
    const answered = (answer: Partial<Answer>, lateMs: number) =>
        answerDue(async () => ({ ...good, ...answer }), { at: 0, lateMs }, limitMs);

    it.each<[string, number, Partial<Answer>, string]>([
        ["sent", 200, { latencyMs: 400 }, "600 ms after it was due .*, but this machine sent it 200 ms late"],
        [
            "read",
            0,
            { latencyMs: 600, stalledMs: 200 },
            "600 ms after it was due .*, but this machine was busy or asleep for 200 ms before it read the answer",
        ],
        [
            "sent and read",
            150,
            { latencyMs: 600, stalledMs: 200 },
            "750 ms after it was due .*, but this machine sent it 150 ms late and was busy or asleep for 200 ms " +
                "before it read the answer",
        ],
    ])("is this machine if it %s it so late that the answer may have been in time", async (_, lateMs, answer, text) =>
        expect(await answered(answer, lateMs)).toMatchObject({
            good: false,
            unseen: true,
            stalledMs: lateMs + (answer.stalledMs ?? 0),
            problem: expect.stringMatching(new RegExp(`^good ${text}$`)),
        }),
    );

    it("is the application if it was too slow without that", async () => {
        const answer = await answered({ latencyMs: 710, stalledMs: 200 }, 0);
        expect(answer).toMatchObject({
            good: false,
            problem: "good 710 ms after it was due (required: at most 500 ms)",
        });
        expect(answer).not.toHaveProperty("unseen");
    });

    it("is not this machine for a few milliseconds, as timers have them", async () => {
        expect(await answered({ latencyMs: 500 }, 10)).toEqual({ ...good, at: 0, latencyMs: 500 });
        expect(await answered({ latencyMs: 500 }, 11)).toMatchObject({ unseen: true, stalledMs: 11 });
    });

    it("is neither if something else is why nothing is known", async () =>
        expect(await answered({ good: false, unseen: true, problem: "no route" }, 200)).toEqual({
            ...{ at: 0, latencyMs: 205, good: false, unseen: true, problem: "no route" },
        }));
});

describe("whatever stalls this machine and however slow the application is", () => {
    const limitMs = 1_000;
    const upTo = (most: number) => fc.oneof(fc.constant(0), fc.nat(most));
    const requests = fc.array(
        fc.record({ isGood: fc.boolean(), tookMs: upTo(1_200), lateMs: upTo(4_000), readLateMs: upTo(3_000) }),
        { minLength: 1, maxLength: 40 },
    );
    type Requests = typeof requests extends fc.Arbitrary<infer R> ? R : never;

    const beyondJitter = (lateMs: number) => (lateMs > jitterMs ? lateMs : 0);

    /** The answers if this machine is late, to send and to read, and if it is not. */
    const both = async (sent: Requests) => {
        const answersIf = (isLate: boolean) =>
            Promise.all(
                sent.map(({ isGood, tookMs, lateMs, readLateMs }, index) => {
                    const stalledMs = isLate && readLateMs > 0 ? readLateMs : undefined;
                    const latencyMs = tookMs + (stalledMs ?? 0);
                    const ask = async () => ({ at: 0, latencyMs, good: isGood && tookMs <= limitMs, stalledMs });
                    return answerDue(ask, { at: index * 500, lateMs: isLate ? lateMs : 0 }, limitMs);
                }),
            );
        return { stalled: await answersIf(true), free: await answersIf(false) };
    };

    it("no rate, bound or verdict is better than with all requests sent when they were due", () =>
        fc.assert(
            fc.asyncProperty(
                requests,
                fc.double({ min: 0.01, max: 1, noNaN: true }),
                fc.nat(5_000),
                async (sent, share, graceMs) => {
                    const { stalled, free } = await both(sent);
                    const judged = [stalled, free].map((answers) =>
                        judgeCheck({ ...check, successRate: share }, answers, { attackedAt: 0, graceMs }),
                    );
                    const [late, inTime] = judged.map(({ measured }) => measured);
                    expect(late!.counted).toBe(inTime!.counted);
                    expect(late!.good).toBeLessThanOrEqual(inTime!.good);
                    if (!judged[0]!.held) return;
                    expect(judged[1]!.held).toBe(true);
                    const [lower, higher] = judged.map(({ bound }) => parseFloat(bound!.atLeast!));
                    expect(lower).toBeLessThanOrEqual(higher!);
                },
            ),
        ));

    it("no answer that is bad is good with all requests sent when they were due, and read when they came", () =>
        fc.assert(
            fc.asyncProperty(requests, async (sent) => {
                const { stalled, free } = await both(sent);
                for (const [index, answer] of stalled.entries())
                    if (!answer.good && !answer.unseen) expect(free[index]!.good).toBe(false);
            }),
        ));

    it("latencies count from when requests were due, and no share of the answers came within less time", () =>
        fc.assert(
            fc.asyncProperty(requests, fc.double({ min: 0.01, max: 1, noNaN: true }), async (sent, share) => {
                const { stalled, free } = await both(sent.map((one) => ({ ...one, readLateMs: 0 })));
                for (const [index, { good, latencyMs }] of stalled.entries())
                    if (good) expect(latencyMs).toBe(sent[index]!.tookMs + beyondJitter(sent[index]!.lateMs));
                const [late = Infinity, inTime = 0] = [latencyWithin(stalled, share), latencyWithin(free, share)];
                expect(late).toBeGreaterThanOrEqual(inTime);
            }),
        ));
});

describe("an answer that came while this machine did not run", () => {
    it("is not counted if it was asleep", async () => {
        const asked = answerOf(() => new Promise(() => undefined), 50);
        stall(60_000);
        expect(await settled(asked)).toMatchObject({ good: false, unseen: true });
    });

    it("is awaited as long as without that: no other is called missing", async () => {
        const after = (ms: number) =>
            answerOf(() => new Promise((resolve) => setTimeout(() => resolve({}), ms)), 1_000);
        const asked = [900, 1_100].map(after);
        setTimeout(() => stall(400), 500);
        const [first, second] = await settled(Promise.all(asked));
        expect(first).toMatchObject({ good: true, latencyMs: 1_300, stalledMs: expect.closeTo(400, -2) });
        expect(second).toMatchObject({ good: false, problem: "no answer within 1000 ms" });
        expect(second).not.toHaveProperty("unseen");
    });
});

it("a check that has not failed yet is asked three times, even if the time is up after a stall", async () => {
    vi.spyOn(http, "probe").mockImplementation(async () => good);
    const holding = untilAllHold({ checks: [{ ...check, successRate: 1 }] }, {} as CheckContext, 10_000, 500);
    setTimeout(() => stall(60_000), 100);
    const { checks, failing } = await settled(holding);
    expect(failing).toEqual([]);
    expect(checks[0]!.answers).toHaveLength(3);
});

describe("the problems of unsteady checks", () => {
    it("are the last problem of each, without a period at the end", () => {
        const bad = (problem: string) => ({ ...good, good: false, problem });
        const unsteady = [
            { name: "/products", answers: [bad("status 500: first"), bad("status 502: last."), good] },
            { name: "pods", answers: [bad("0 ready.")] },
        ];
        expect(problemsOf(unsteady)).toBe("/products: status 502: last.; pods: 0 ready");
    });
});

it("of answers beside a run about twenty are kept, the last three among them, and no text of the application", () => {
    const answers = Array.from({ length: 600 }, (_, at) => ({ ...good, at, good: at > 590, problem: "a secret" }));
    const [{ answers: kept } = { answers: [] }] = keptOf([{ name: "slow", answers }]);
    expect(kept.length).toBeLessThanOrEqual(23);
    expect(kept.slice(-3)).toEqual([597, 598, 599].map((at) => ({ at, latencyMs: 5, good: true })));
    expect(kept[0]).toEqual({ at: 0, latencyMs: 5, good: false });
    const few = [{ name: "fast", answers: [good, good, good] }];
    expect(keptOf(few)).toEqual(few);
});
