/** An answer of `/products`. */
export interface ProductsSample {
    /** Milliseconds since the epoch. */
    answeredAt: number;
    good: boolean;
}

/**
 * The seconds from a policy's deletion to the first good answer after the last bad one; 0 where the answers were good
 * by the time that the deletion was heard of.
 *
 * @param goneAt milliseconds since the epoch, when the policy was heard to be gone
 * @throws Error where the answers cannot tell: there was no attack, or no recovery
 */
export function recoverySeconds(samples: readonly ProductsSample[], goneAt: number): number {
    const inOrder = [...samples].sort((a, b) => a.answeredAt - b.answeredAt);
    const lastBad = inOrder.findLastIndex(({ good }) => !good);
    if (lastBad === -1) throw new Error("/products was good all the time, so there was nothing to recover from");
    const recovered = inOrder[lastBad + 1];
    if (recovered === undefined) throw new Error("/products was still bad when the update had ended");
    return Math.max(0, recovered.answeredAt - goneAt) / 1_000;
}
