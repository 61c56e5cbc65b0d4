import { setTimeout as sleep } from "node:timers/promises";

/** Measures how long work takes, in seconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
    const begun = performance.now();
    await work();
    return secondsSince(begun);
}

/** @param begun a time of `performance.now()` */
export function secondsSince(begun: number): number {
    return (performance.now() - begun) / 1_000;
}

/**
 * Polls until `look` finds something, and returns that.
 *
 * @param what for the error: `the agent lists new-1`
 * @throws Error after `patienceSeconds`
 */
export async function until<Found>(
    what: string,
    patienceSeconds: number,
    pauseMs: number,
    look: () => Promise<Found | false | undefined>,
): Promise<Found> {
    const begun = performance.now();
    for (;;) {
        const found = await look();
        if (found) return found;
        if (secondsSince(begun) > patienceSeconds) throw new Error(`not within ${patienceSeconds} s: ${what}`);
        await sleep(pauseMs);
    }
}
