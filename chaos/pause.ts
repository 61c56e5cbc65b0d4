import { setTimeout as sleep } from "node:timers/promises";

/** Sleeps, but not longer than until a signal is aborted. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
    // Only the signal makes it reject.
    await sleep(Math.max(0, ms), undefined, { signal }).catch(() => undefined);
}

const pollMs = 50;

/**
 * Looks again and again until that is enough, or until a time has passed.
 *
 * @returns the last look
 */
export async function poll<T>(look: () => Promise<T>, isEnough: (seen: T) => boolean, timeoutMs: number): Promise<T> {
    // Not by the clock, which may be set back.
    for (const giveUpAt = performance.now() + timeoutMs; ; await sleep(pollMs)) {
        const seen = await look();
        if (isEnough(seen) || performance.now() > giveUpAt) return seen;
    }
}
