import { pause } from "../values/async";
import { maxSilenceMs } from "./outcome";

/** Time between two looks, in milliseconds: what is there for longer is seen. */
const pauseMs = 4_000;
/** Looks at many targets are rarer: they take at most this share of the time. */
const maxShare = 0.2;

/**
 * Looks again and again until something is seen, or until a moment.
 *
 * @param look undefined if nothing is seen
 * @param endsAt when it looks for the last time, in milliseconds since the epoch
 * @param signal set if the run is ended earlier: that is the last time, then
 * @throws Error if nothing could be seen for a long time at the end
 */
export async function lookAgain<T>(
    look: () => Promise<T | undefined>,
    endsAt: number,
    signal?: AbortSignal,
): Promise<T | undefined> {
    let lookedAt = performance.now();
    for (;;) {
        const isLast = signal?.aborted === true || Date.now() >= endsAt;
        const begun = performance.now();
        try {
            const seen = await look();
            if (seen !== undefined || isLast) return seen;
            lookedAt = performance.now();
        } catch (error) {
            if (isLast && performance.now() - lookedAt > maxSilenceMs) throw error;
            if (isLast) return undefined;
        }
        const restMs = Math.max(pauseMs, (performance.now() - begun) / maxShare);
        await pause(Math.min(restMs, endsAt - Date.now()), signal);
    }
}
