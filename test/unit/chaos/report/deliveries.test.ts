import { describe, expect, it } from "vitest";
import type { Delivery } from "../../../../chaos/kinds/actions/beside";
import { adviceOnSent, describeDelivery, judgeDelivery } from "../../../../chaos/report/deliveries";

const whole: Delivery = {
    name: "visitors",
    seconds: 10,
    due: 1_000,
    sent: 1_000,
    busy: 0,
    unsent: {},
    unreported: 0,
    good: 1_000,
    unseen: 0,
    bad: {},
    latencyMs: { p50: 10, p95: 40, p99: 90, most: 120 },
    shares: [],
};
const rate = (met: number, unknown = 0) => ({ of: "successRate" as const, required: 0.99, met, unknown });
const p95 = (met: number, unknown = 0) => ({ of: "p95" as const, required: 0.95, withinMs: 50, met, unknown });

describe("a load", () => {
    it("holds if what is required of it is met, and 98% of what was due was sent on time", () => {
        const shares = [{ ...rate(980), required: 0.98 }, p95(950)];
        const judged = judgeDelivery({ ...whole, sent: 980, busy: 20, good: 980, shares });
        expect([judged.held, judged.inconclusive]).toEqual([true, undefined]);
        expect(judged.reason).toBe(
            "98% of 1000 requests of visitors succeeded under attack (required: 98%; 95% confidence: at least " +
                "97.1%); 95% within 50 ms (required: 95%; 95% confidence: at least 93.7%); p50 10 ms, p95 40 ms, " +
                "p99 90 ms; 98% were sent on time.",
        );
    });

    it("fails if too few requests met it, even if all had of which that is unknown, and says what was wrong", () => {
        const bad = { "status 503": 30, ECONNREFUSED: 2 };
        const judged = judgeDelivery({ ...whole, good: 968, bad, shares: [rate(968)] });
        expect(judged).toMatchObject({ held: false, bound: { atMost: expect.any(String) as string } });
        expect(judged.inconclusive).toBeUndefined();
        expect(judged.reason).toContain("; most failures: status 503");
    });

    it("fails by its latencies alone", () => {
        const judged = judgeDelivery({ ...whole, shares: [rate(1_000), p95(900, 10)] });
        expect(judged.inconclusive).toBeUndefined();
        expect(judged.held).toBe(false);
    });

    it("is undelivered if less than 98% was sent on time, although all answers were good", () => {
        const judged = judgeDelivery({ ...whole, sent: 979, busy: 21, good: 979, shares: [rate(979, 21)] });
        expect(judged.inconclusive).toMatchObject({ code: "load-not-delivered" });
        expect(judged.inconclusive!.message).toMatch(
            /^97.9% of 1000 requests of visitors were sent on time; 21 were not, .* connections .* \(required: 98%\)/,
        );
    });

    it("has failed if even the requests that it lacks would not have been enough: a smaller load was too much", () => {
        const judged = judgeDelivery({ ...whole, sent: 500, busy: 500, good: 100, shares: [rate(100, 500)] });
        expect([judged.held, judged.inconclusive]).toEqual([false, undefined]);
    });

    it("leaves open what the few requests decide of which nothing is known", () => {
        const judged = judgeDelivery({ ...whole, sent: 990, good: 985, shares: [rate(985, 10)] });
        expect(judged.inconclusive).toMatchObject({
            code: "load-not-delivered",
            message: expect.stringContaining("leaves open what was required: 98.5% succeeded") as string,
        });
    });

    it("says nothing if no whole second counts", () => {
        const none = { ...whole, seconds: 0, due: 0, sent: 0, good: 0, shares: [rate(0)] };
        expect(judgeDelivery(none).inconclusive).toMatchObject({ code: "too-few-answers" });
    });

    it("must show nothing if nothing is required, except that it was sent", () => {
        expect(judgeDelivery({ ...whole, good: 10, bad: { "status 500": 990 } }).held).toBe(true);
        expect(judgeDelivery({ ...whole, sent: 10, good: 10 }).inconclusive).toMatchObject({
            code: "load-not-delivered",
        });
    });
});

it("what lacks of a load is told by its cause, with what to do", () => {
    const unsent = { EADDRNOTAVAIL: 50 };
    const late = { ...whole, sent: 350, busy: 100, unsent, unreported: 200, problem: "its pod x-load is gone" };
    expect(describeDelivery(late)).toMatch(
        new RegExp(
            "^35% of 1000 requests .*; 100 were not, .* connections .*; 50 were not, .* \\(EADDRNOTAVAIL\\); " +
                "300 were not, .* late; of 200 nothing .*; its pod",
        ),
    );
    expect(adviceOnSent({ ...whole, sent: 0, busy: 900 })).toContain("`connections`");
    expect(adviceOnSent({ ...whole, sent: 0, unsent: { ENOTFOUND: 900 } })).toContain("`url`");
    expect(adviceOnSent({ ...whole, sent: 0, busy: 100 })).toContain("node");
});
