import { onTimeMs } from "./settings";

/** Timers are exact to a millisecond. */
const leastWaitMs = 1;

/**
 * Calls at fixed times, `perSecond` times a second, and does not wait for what it has begun. What this process is too
 * late for is told apart, and not begun.
 *
 * @param due gets the number of the call, from 0, and when it was due, in milliseconds of `performance.now()`
 * @param late gets the number of one that is not on time
 * @returns a function that ends it
 */
export function openLoop(
    perSecond: number,
    due: (index: number, dueAt: number) => void,
    late: (index: number) => void,
): () => void {
    const begun = performance.now();
    const dueAt = (index: number) => begun + (index * 1_000) / perSecond;
    let next = 0;
    let timer: NodeJS.Timeout | undefined;
    const tick = () => {
        for (let now = performance.now(); dueAt(next) <= now; now = performance.now(), next++)
            if (now - dueAt(next) > onTimeMs) late(next);
            else due(next, dueAt(next));
        timer = setTimeout(tick, Math.max(leastWaitMs, Math.floor(dueAt(next) - performance.now())));
    };
    tick();
    return () => clearTimeout(timer);
}
