/** An answer of `/products`. */
export interface ProductsSample {
    /** Milliseconds since the epoch. */
    answeredAt: number;
    good: boolean;
}

/**
 * The seconds from a policy's deletion to the first good answer after the last bad one. 0 if that answer came before
 * the deletion was observed.
 *
 * @param goneAt when the deletion was observed, in milliseconds since the epoch
 * @throws Error if the answers show no attack, or no recovery
 */
export function recoverySeconds(samples: readonly ProductsSample[], goneAt: number): number {
    const inOrder = [...samples].sort((a, b) => a.answeredAt - b.answeredAt);
    const lastBad = inOrder.findLastIndex(({ good }) => !good);
    if (lastBad === -1) throw new Error("/products never failed: there was nothing to recover from");
    const recovered = inOrder[lastBad + 1];
    if (recovered === undefined) throw new Error("/products was still bad at the end of the update");
    return Math.max(0, recovered.answeredAt - goneAt) / 1_000;
}
