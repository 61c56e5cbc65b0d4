import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Mend } from "../../../../chaos/definition/answers-fault";
import { confidenceMistakes } from "../../../../chaos/definition/confidence-mistakes";
import type { Check } from "../../../../chaos/kinds/checks/registry";
import { durationWithin, formatDuration, times } from "../../../../chaos/values/duration";

const confidence = fc.record({
    atLeast: fc.constantFrom(0.5, 0.9, 0.99, 0.9999),
    level: fc.constantFrom(0.5, 0.95, 0.9999),
});
const perSecond = fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined });
const settings = fc.record({
    intervalMs: fc.integer({ min: 20, max: 60_000 }),
    durationMs: fc.integer({ min: 1_000, max: 3_600_000 }),
    graceMs: fc.integer({ min: 0, max: 600_000 }),
    successRate: fc.constantFrom(0.9, 0.995, 1),
});

/** A definition with what mends a fault. */
function mended<N extends object>(check: Check, now: N, { intervalMs, ...others }: Mend) {
    if (intervalMs === undefined) return { check, now: { ...now, ...others } };
    if (check.perSecond === undefined) return { check, now: { ...now, ...others, intervalMs } };
    return { check: { ...check, perSecond: Math.round(1_000 / intervalMs) }, now: { ...now, ...others } };
}

describe("what a check cannot show", () => {
    it("is said with what mends it, and is allowed", () =>
        fc.assert(
            fc.property(confidence, perSecond, settings, (confidence, perSecond, now) => {
                const check: Check = { kind: "http", path: "/", perSecond };
                for (const { reason, allowed } of confidenceMistakes([check], { ...now, confidence })) {
                    expect(allowed).not.toEqual([]);
                    for (const { atLeast = confidence.atLeast, ...mend } of allowed) {
                        if (mend.durationMs !== undefined)
                            expect(durationWithin(times.duration, formatDuration(mend.durationMs))).toBeDefined();
                        if (mend.intervalMs !== undefined)
                            expect(durationWithin(times.interval, formatDuration(mend.intervalMs))).toBeDefined();
                        const after = mended(check, { ...now, confidence: { ...confidence, atLeast } }, mend);
                        const isThere = (one: { reason: string }) =>
                            one.reason.startsWith("to show") === reason.startsWith("to show");
                        expect(confidenceMistakes([after.check], after.now).filter(isThere)).toEqual([]);
                    }
                }
            }),
        ));
});
