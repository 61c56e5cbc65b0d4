import { Watch } from "@kubernetes/client-node";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ReadinessRecorder } from "../../../../chaos/report/readiness";
import { FakeCluster } from "../support/fake-cluster";
import { startClock, stopClock } from "../support/time";

beforeEach(stopClock);
afterEach(() => {
    vi.restoreAllMocks();
    startClock();
});

const recorder = () => new ReadinessRecorder(new FakeCluster().api, "demo");

it("a recorder of readiness keeps nothing of watches that have ended", async () => {
    const watch = vi.spyOn(Watch.prototype, "watch").mockImplementation(async (_path, _query, _callback, done) => {
        setTimeout(() => done(undefined), 10);
        return new AbortController();
    });
    const listening = vi.spyOn(AbortSignal.prototype, "addEventListener");
    const recording = recorder();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(watch.mock.calls.length).toBeGreaterThan(12);
    expect(listening.mock.calls.length).toBeLessThan(10);
    recording.stop();
});

it.each([
    ["goes on", 1_000],
    ["is about to begin", 0],
])("a recorder of readiness that stops ends the watch that %s", async (_, afterMs) => {
    const watching = new AbortController();
    vi.spyOn(Watch.prototype, "watch").mockResolvedValue(watching);
    const recording = recorder();
    if (afterMs > 0) await vi.advanceTimersByTimeAsync(afterMs);
    recording.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(watching.signal.aborted).toBe(true);
});
