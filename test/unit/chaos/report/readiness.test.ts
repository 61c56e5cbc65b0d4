import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ReadinessRecorder } from "../../../../chaos/report/readiness";
import type { Cluster } from "../../../../chaos/cluster/client";
import { FakeCluster } from "../support/fake-cluster";
import { startClock, stopClock } from "../support/time";

beforeEach(stopClock);
afterEach(() => {
    vi.restoreAllMocks();
    startClock();
});

type Watch = Cluster["watch"];

const recorder = (watch: Watch) => new ReadinessRecorder({ ...new FakeCluster().api, watch }, "demo");

it("a recorder of readiness keeps nothing of watches that have ended", async () => {
    const watch = vi.fn<Watch>(() => new Promise((ended) => setTimeout(ended, 10)));
    const listening = vi.spyOn(AbortSignal.prototype, "addEventListener");
    const recording = recorder(watch);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(watch.mock.calls.length).toBeGreaterThan(12);
    expect(listening.mock.calls.length).toBeLessThan(10);
    recording.stop();
});

it.each([
    ["goes on", 1_000],
    ["is about to begin", 0],
])("a recorder of readiness that stops ends the watch that %s", async (_, afterMs) => {
    let watching: AbortSignal | undefined;
    const recording = recorder((...[, , , , signal]) => {
        watching = signal;
        return new Promise(() => undefined);
    });
    if (afterMs > 0) await vi.advanceTimersByTimeAsync(afterMs);
    recording.stop();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(watching!.aborted).toBe(true);
});
