import { setTimeout as sleep } from "node:timers/promises";

const pauseMs = 50;

/**
 * Looks again and again until that is enough, or until a time has passed.
 *
 * @returns the last look
 */
export async function poll<T>(look: () => Promise<T>, isEnough: (seen: T) => boolean, timeoutMs: number): Promise<T> {
    // Not by the clock, which may be set back.
    for (const giveUpAt = performance.now() + timeoutMs; ; await sleep(pauseMs)) {
        const seen = await look();
        if (isEnough(seen) || performance.now() > giveUpAt) return seen;
    }
}
