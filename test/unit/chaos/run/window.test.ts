import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { clockShift } from "../../../../chaos/run/window";
import { startClock, stopClock } from "../support/time";

beforeEach(stopClock);
afterEach(startClock);

it("the clock is ahead of the time that passes by how long this machine slept, and behind if it was set back", () => {
    const shiftMs = clockShift();
    vi.advanceTimersByTime(5_000);
    expect(shiftMs()).toBe(0);
    vi.setSystemTime(Date.now() + 60_000);
    expect(shiftMs()).toBe(60_000);
    vi.setSystemTime(Date.now() - 90_000);
    expect(shiftMs()).toBe(-30_000);
});
