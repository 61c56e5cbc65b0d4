import { setTimeout as sleep } from "node:timers/promises";

export interface Patience {
    /** @default 60_000 */
    timeoutMs?: number;
    /** Between two looks. @default 200 */
    pauseMs?: number;
}

/** For processes on this machine. The default is for a cluster. */
export const local = { timeoutMs: 10_000, pauseMs: 25 } satisfies Patience;

/**
 * Looks until there is something, or a condition holds.
 *
 * @param what for the error: `/products is whole`
 * @returns what was found
 * @throws Error after the timeout
 */
export async function until<Found>(
    what: string,
    look: () => Promise<Found | false | undefined> | Found | false | undefined,
    { timeoutMs = 60_000, pauseMs = 200 }: Patience = {},
): Promise<Found> {
    const begun = performance.now();
    for (;;) {
        const found = await look();
        if (found) return found;
        if (performance.now() - begun > timeoutMs) throw new Error(`not within ${timeoutMs} ms: ${what}`);
        await sleep(pauseMs);
    }
}
