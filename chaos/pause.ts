import { setTimeout as sleep } from "node:timers/promises";

/** Sleeps, but not longer than until a signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
    // Only the signal makes it reject.
    await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}
