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
    it("is never less than what an exchange may have lost, and hardly more", async () => {
        const courses = fc.array(fc.record({ ranMs: fc.nat(200), stallMs: fc.nat(2_000) }), { maxLength: 20 });
        await fc.assert(
            fc.asyncProperty(courses, async (course) => {
                const begun = performance.now();
                for (const { ranMs, stallMs } of course) {
                    await vi.advanceTimersByTimeAsync(ranMs);
                    stall(stallMs);
                    // Something else than the timer may run first.
                    stalledBetween(begun);
                }
                await vi.advanceTimersByTimeAsync(100);
                const { delayMs, longestMs } = stalledBetween(begun);
                const stalls = course.map(({ stallMs }) => stallMs).sort((a, b) => b - a);
                const shown = stalls.filter((ms) => ms > 2 * jitterMs);
                const sum = (all: number[]) => all.slice(0, 5).reduce((total, ms) => total + ms, 0);
                expect(delayMs).toBeGreaterThanOrEqual(sum(shown));
                // Without a tick in between, several are one.
                const together = course.reduce((total, { stallMs }) => total + stallMs, 0);
                expect(delayMs).toBeLessThanOrEqual(together + 50);
                expect(longestMs).toBeGreaterThanOrEqual(shown[0] ?? 0);
            }),
        );
    });

    it("is little if it was stalled often, but each time briefly", async () => {
        const begun = performance.now();
        for (let index = 0; index < 50; index++) {
            stall(25);
            await vi.advanceTimersByTimeAsync(10);
        }
        expect(stalledBetween(begun).delayMs).toBeLessThanOrEqual(5 * 35);
    });

    it("is only what overlaps with a time", async () => {
        const begun = performance.now();
        await vi.advanceTimersByTimeAsync(100);
        stall(300);
        await vi.advanceTimersByTimeAsync(100);
        expect(stalledBetween(begun, begun + 100).delayMs).toBe(0);
        expect(stalledBetween(begun, begun + 200).delayMs).toBe(100);
        expect(stalledBetween(performance.now() - 50).delayMs).toBe(0);
        expect(stalledBetween(begun)).toEqual({ delayMs: 310, longestMs: 310 });
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
