import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { afterRunning, jitterMs, stalledBetween, watchStalls } from "../../../../../chaos/kinds/checks/stalls";
import { startClock, stopClock } from "../../support/time";

let unwatch: () => void;
/** How long nothing ran so far. */
let stalledMs: number;
beforeEach(() => {
    stopClock();
    stalledMs = 0;
    const now = performance.now.bind(performance);
    vi.spyOn(performance, "now").mockImplementation(() => now() + stalledMs);
    unwatch = watchStalls();
});
afterEach(() => {
    unwatch();
    vi.restoreAllMocks();
    startClock();
});

/** Lets time pass in which nothing runs. */
const stall = (ms: number) => void (stalledMs += ms);

describe("what is known of the time in which this process did not run", () => {
    it("is never less than it was, and hardly more", async () => {
        const courses = fc.array(fc.record({ ranMs: fc.nat(200), stalledMs: fc.nat(2_000) }), { maxLength: 20 });
        await fc.assert(
            fc.asyncProperty(courses, async (course) => {
                const begun = performance.now();
                for (const { ranMs, stalledMs } of course) {
                    await vi.advanceTimersByTimeAsync(ranMs);
                    stall(stalledMs);
                    // Something else than the timer may run first.
                    stalledBetween(begun);
                }
                await vi.advanceTimersByTimeAsync(100);
                const { totalMs, longestMs } = stalledBetween(begun);
                const stalls = course.map(({ stalledMs }) => stalledMs);
                const shown = stalls.filter((ms) => ms > 2 * jitterMs).reduce((sum, ms) => sum + ms, 0);
                expect(totalMs).toBeGreaterThanOrEqual(shown);
                expect(totalMs).toBeLessThanOrEqual(stalls.reduce((sum, ms) => sum + ms, 0) + 10 * course.length);
                expect(longestMs).toBeGreaterThanOrEqual(Math.max(0, ...stalls.filter((ms) => ms > 2 * jitterMs)));
            }),
        );
    });

    it("is only what overlaps with a time", async () => {
        const begun = performance.now();
        await vi.advanceTimersByTimeAsync(100);
        stall(300);
        await vi.advanceTimersByTimeAsync(100);
        expect(stalledBetween(begun, begun + 100).totalMs).toBe(0);
        expect(stalledBetween(begun, begun + 200).totalMs).toBe(100);
        expect(stalledBetween(performance.now() - 50).totalMs).toBe(0);
        expect(stalledBetween(begun)).toEqual({ totalMs: 310, longestMs: 310 });
    });
});

describe("time that is counted only while this process runs", () => {
    const endedAfter = async (mostMs: number, stallMs: number) => {
        const begun = performance.now();
        const ended = vi.fn();
        afterRunning(1_000, mostMs, (isWhole) => ended(performance.now() - begun, isWhole));
        await vi.advanceTimersByTimeAsync(400);
        stall(stallMs);
        await vi.advanceTimersByTimeAsync(5_000);
        expect(ended).toHaveBeenCalledOnce();
        return ended.mock.calls[0] as [passedMs: number, isWhole: boolean];
    };

    it.each([0, 300, 1_500])("lasts as much longer as a stall of %d ms", async (stallMs) => {
        const [passedMs, isWhole] = await endedAfter(2_000, stallMs);
        expect(passedMs).toBeGreaterThanOrEqual(1_000 + stallMs);
        expect(passedMs).toBeLessThanOrEqual(1_020 + stallMs);
        expect(isWhole).toBe(true);
    });

    it("ends after the longest time, and says so", async () => {
        const [passedMs, isWhole] = await endedAfter(200, 700);
        expect(passedMs).toBeLessThanOrEqual(1_710);
        expect(isWhole).toBe(false);
    });
});
