/**
 * How many probes are due in a time: the first at once, and one after each interval. This is how a check is asked, and
 * what it promises before the run.
 *
 * @param afterMs as if the time began so much later than the first probe, as the window does after a grace period
 */
export const probesDue = (lengthMs: number, intervalMs: number, afterMs = 0): number =>
    dueBefore(afterMs + lengthMs, intervalMs) - dueBefore(afterMs, intervalMs);

/** An interval such as 1000/3 ms is not exact. */
const dueBefore = (timeMs: number, intervalMs: number) => Math.ceil(timeMs / intervalMs - 1e-6);

/** Whether as many probes are due in a time of this length whenever it begins. */
export const divides = (intervalMs: number, lengthMs: number): boolean =>
    dueBefore(lengthMs, intervalMs) === -dueBefore(-lengthMs, intervalMs);
