import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Answer, answerDue, answerOf } from "../../../../../chaos/kinds/checks/answer";
import { askThrough, keptOf, problemsOf } from "../../../../../chaos/kinds/checks/observe";
import { latencyWithin } from "../../../../../chaos/report/strips";
import { judgeCheck } from "../../../../../chaos/report/verdict";
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
});

describe("whatever stalls this machine and however slow the application is", () => {
    const limitMs = 1_000;
    const upTo = (most: number) => fc.oneof(fc.constant(0), fc.nat(most));
    const requests = fc.array(
        fc.record({ isGood: fc.boolean(), tookMs: upTo(1_200), lateMs: upTo(4_000), readLateMs: upTo(3_000) }),
        { minLength: 1, maxLength: 40 },
    );
    type Requests = typeof requests extends fc.Arbitrary<infer R> ? R : never;

    /** The answers if this machine is late, to send and to read, and if it is not. */
    const both = async (sent: Requests) => {
        const answersIf = (isLate: boolean) =>
            Promise.all(
                sent.map(({ isGood, tookMs, lateMs, readLateMs }, index) => {
                    const latencyMs = tookMs + (isLate ? readLateMs : 0);
                    const ask = async () => ({ at: 0, latencyMs, good: isGood && latencyMs <= limitMs });
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

    it("latencies count from when requests were due, and no share of the answers came within less time", () =>
        fc.assert(
            fc.asyncProperty(requests, fc.double({ min: 0.01, max: 1, noNaN: true }), async (sent, share) => {
                const { stalled, free } = await both(sent.map((one) => ({ ...one, readLateMs: 0 })));
                for (const [index, { good, latencyMs }] of stalled.entries())
                    if (good) expect(latencyMs).toBe(sent[index]!.tookMs + sent[index]!.lateMs);
                const [late = Infinity, inTime = 0] = [latencyWithin(stalled, share), latencyWithin(free, share)];
                expect(late).toBeGreaterThanOrEqual(inTime);
            }),
        ));
});

it("an answer that arrived while the machine was asleep is not counted", async () => {
    const asked = answerOf(() => new Promise(() => undefined), 50);
    stall(60_000);
    expect(await asked).toMatchObject({ good: false, unseen: true });
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
