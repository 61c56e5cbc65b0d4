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
 * Polls until `look` returns true.
 *
 * @param what for the error: `the agent lists new-1`
 * @throws Error after `patienceSeconds`
 */
export async function until(
    what: string,
    patienceSeconds: number,
    pauseMs: number,
    look: () => Promise<boolean | undefined>,
): Promise<void> {
    const begun = performance.now();
    while (!(await look())) {
        if (secondsSince(begun) > patienceSeconds) throw new Error(`not within ${patienceSeconds} s: ${what}`);
        await sleep(pauseMs);
    }
}
