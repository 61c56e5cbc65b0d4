import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changeMistakes } from "../../../../chaos/definition/change-mistakes";
import type { Check } from "../../../../chaos/kinds/checks/registry";
import { durationWithin, formatDuration, times } from "../../../../chaos/values/duration";

const limits = [
    { latency: { p50: { atMost: "2x" } } },
    { latency: { p99: { atMost: "+20ms" } } },
    { successRate: { dropAtMost: "0.1%" } },
    { successRate: { dropAtMost: "5%" } },
];
const checks = fc
    .array(
        fc.record({
            limit: fc.constantFrom(...limits),
            perSecond: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined }),
        }),
        { minLength: 1, maxLength: 4 },
    )
    .map((all) =>
        all.map(({ limit, perSecond }, index): Check => ({ kind: "http", path: `/${index}`, perSecond, ...limit })),
    );
const settings = fc.record({
    intervalMs: fc.integer({ min: 20, max: 60_000 }),
    durationMs: fc.integer({ min: 1_000, max: 3_600_000 }),
    baselineMs: fc.integer({ min: 1_000, max: 600_000 }),
    graceMs: fc.integer({ min: 0, max: 600_000 }),
});

describe("what checks cannot show", () => {
    it("is said with times that mend it, and are allowed", () =>
        fc.assert(
            fc.property(checks, settings, (checks, now) => {
                const before = changeMistakes(checks, now);
                for (const { check, of, allowed, otherwise } of before) {
                    expect(otherwise).not.toBe("");
                    for (const mend of allowed) {
                        for (const [key, range] of [
                            ["baselineMs", times.baseline],
                            ["durationMs", times.duration],
                            ["intervalMs", times.interval],
                        ] as const)
                            if (mend[key] !== undefined)
                                expect(durationWithin(range, formatDuration(mend[key]))).toBeDefined();
                        const { intervalMs, ...longer } = mend;
                        const isOwn = intervalMs !== undefined && check?.perSecond !== undefined;
                        const mended = checks.map((one) =>
                            isOwn && one === check ? { ...one, perSecond: Math.round(1_000 / intervalMs) } : one,
                        );
                        const others = { ...now, ...longer, ...(intervalMs && !isOwn && { intervalMs }) };
                        const after = changeMistakes(mended, others);
                        const index = check && checks.indexOf(check);
                        expect(
                            after.some((one) => one.check !== undefined && mended.indexOf(one.check) === index),
                        ).toBe(false);
                        const isTooLong = (one: { of?: string }) => one.of === "baseline";
                        if (of === "baseline" || !before.some(isTooLong)) expect(after.some(isTooLong)).toBe(false);
                    }
                }
            }),
        ));

    it("has no time, if it is too much for any baseline", () => {
        const drop = { perSecond: 50, successRate: { dropAtMost: "0.1%" } };
        const checks = ["/a", "/b", "/c"].map((path): Check => ({ kind: "http", path, ...drop }));
        const now = { intervalMs: 1_000, durationMs: 600_000, graceMs: 0 };
        for (const baselineMs of [30_000, 66_000, 120_000])
            for (const { allowed, otherwise } of changeMistakes(checks, { ...now, baselineMs })) {
                expect(allowed).toEqual([]);
                expect(otherwise).toContain("fewer checks");
            }
    });
});
