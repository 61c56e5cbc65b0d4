import { setImmediate as turn } from "node:timers/promises";
import { onTestFinished, vi } from "vitest";

/** Stops clock and timers until the test ends; `pass` moves them. Sockets work on. */
export function stopClock(): void {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance", "Date"] });
    onTestFinished(() => void vi.useRealTimers());
}

export const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** Lets sockets work until a condition holds. If it never does, the test times out. */
export async function turnUntil(condition: () => boolean | Promise<boolean>): Promise<void> {
    while (!(await condition())) await turn();
}

/** Moves the stopped clock, and lets sockets work, until a promise settles. */
export async function passUntilSettled<Result>(promise: Promise<Result>): Promise<Result> {
    let settled = false;
    const done = () => void (settled = true);
    promise.then(done, done);
    while (!settled) {
        await turn();
        await pass(10);
    }
    return promise;
}
