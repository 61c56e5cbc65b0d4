import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type Answer, answerOf } from "../../../../../chaos/kinds/checks/answer";
import { askThrough, keptOf, problemsOf } from "../../../../../chaos/kinds/checks/observe";
import { judgeCheck } from "../../../../../chaos/report/verdict";
import { settled, startClock, stopClock } from "../../support/time";

beforeEach(stopClock);
afterEach(() => {
    vi.restoreAllMocks();
    startClock();
});

const good: Answer = { at: 0, latencyMs: 5, good: true };

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
        const at = asked;
        await new Promise((resolve) => setTimeout(resolve, latencyMs));
        return { ...good, at };
    };
    const onAnswer = ({ at }: Answer) => {
        told.push(at);
        if (at === 4) ending.abort();
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
            latencyMs: 0,
            good: false,
            problem: "this machine was busy or asleep for 5 s",
            unseen: true,
        });
    });

    it("make the verdict unknown if it depends on them", async () => {
        const ask = async () => ({ ...good, at: Date.now() });
        const begunAt = Date.now();
        const asking = askThrough(ask, 10_000, 500);
        setTimeout(() => stall(5_000), 1_500);
        const check = { name: "/", check: { kind: "http", path: "/" } as const, intervalMs: 500, timeoutMs: 1_000 };
        const answers = await settled(asking);
        const judged = (successRate: number) =>
            judgeCheck({ ...check, successRate }, answers, { attackedAt: begunAt, graceMs: 0 });
        const message = expect.stringContaining("busy or asleep for") as string;
        expect(judged(1)).toMatchObject({ held: false, inconclusive: { message } });
        expect(judged(0.5)).toMatchObject({ held: true });
    });
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
