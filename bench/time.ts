/** The seconds that something takes. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
    const begun = performance.now();
    await work();
    return secondsSince(begun);
}

/** @param begun what `performance.now()` said then */
export function secondsSince(begun: number): number {
    return (performance.now() - begun) / 1_000;
}
