import { reasonOf } from "../../shared/kubernetes";

/** One answer to a check, or the lack of one. Times are milliseconds; `at` since the epoch, when it was asked. */
export interface Answer {
    at: number;
    latencyMs: number;
    good: boolean;
    /** HTTP status; undefined where there was no answer, and where none was asked for. */
    status?: number;
    /** Why it is not good, in a sentence. */
    problem?: string;
    /** Whether it says nothing of the shop, since it was the API server that did not answer. @default it does */
    unseen?: true;
}

/** Looks once, and makes an answer of what is found: good where there is no problem. */
export async function answerOf(
    look: (signal: AbortSignal) => Promise<{ status?: number; problem?: string }>,
    timeoutMs: number,
): Promise<Answer> {
    const at = Date.now();
    const begun = performance.now();
    const signal = AbortSignal.timeout(timeoutMs);
    const tooLate = new Promise<{ problem: string }>((resolve) =>
        signal.addEventListener("abort", () => resolve({ problem: `no answer within ${timeoutMs} ms` })),
    );
    const failed = (error: Error) => (signal.aborted ? tooLate : { problem: reasonOf(error) });
    const found = await Promise.race([look(signal).catch(failed), tooLate]);
    return { at, latencyMs: Math.round(performance.now() - begun), good: found.problem === undefined, ...found };
}
