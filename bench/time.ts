import { poll } from "../chaos/values/async";

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

/** Polls until `look` returns true. @throws Error after `patienceSeconds`. @param what for the error */
export async function until(what: string, patienceSeconds: number, look: () => Promise<boolean>): Promise<void> {
    const found = await poll(look, Boolean, patienceSeconds * 1_000);
    if (!found) throw new Error(`not within ${patienceSeconds} s: ${what}`);
}
