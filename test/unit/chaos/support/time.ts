import { syncBuiltinESMExports } from "node:module";
import timersPromises from "node:timers/promises";
import { vi } from "vitest";

const realSleep = timersPromises.setTimeout;

function replaceSleep(sleep: typeof realSleep): void {
    timersPromises.setTimeout = sleep;
    // Modules that import it by its name see the change only after this.
    syncBuiltinESMExports();
}

/** Replaces the clock and all timers, including the sleep of `node:timers/promises`, which vitest leaves alone. */
export function stopClock(): void {
    vi.useFakeTimers({ now: Date.parse("2026-11-21T10:00:00Z") });
    replaceSleep((ms, value, { signal } = {}) => {
        if (signal?.aborted) return Promise.reject(signal.reason as Error);
        return new Promise((resolve, reject) => {
            const abort = () => reject(signal!.reason as Error);
            signal?.addEventListener("abort", abort);
            setTimeout(() => {
                signal?.removeEventListener("abort", abort);
                resolve(value!);
            }, ms);
        });
    });
}

export function startClock(): void {
    vi.useRealTimers();
    replaceSleep(realSleep);
}

/** Advances the clock until a promise is settled. */
export async function settled<T>(promise: Promise<T>): Promise<T> {
    let done = false;
    const end = () => void (done = true);
    promise.then(end, end);
    for (const giveUpAt = Date.now() + 300_000; !done && Date.now() < giveUpAt;) await vi.advanceTimersByTimeAsync(50);
    if (!done) throw new Error("the promise was not settled within 5 minutes");
    return promise;
}
