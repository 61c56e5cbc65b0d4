import * as z from "zod";
import { problemOf } from "../../cluster/problem";
import { describeMilliseconds } from "../../values/duration";
import { instant, milliseconds } from "../../values/texts";

export const answerSchema = z.object({
    at: instant.describe("When it was asked"),
    latencyMs: milliseconds,
    good: z.boolean(),
    status: z
        .int()
        .optional()
        .describe("HTTP status; absent if there was no answer, or its body had to end and did not"),
    problem: z.string().optional().describe("Why the answer is not good, in a sentence"),
    traceId: z
        .string()
        .regex(/^[0-9a-f]{32}$/)
        .optional()
        .describe(
            "The trace that the request began by `traceparent`; absent if the answer is good, and of other kinds",
        ),
    unseen: z
        .literal(true)
        .optional()
        .describe("The probe did not see the application, so nothing is known about that"),
});
export type Answer = z.infer<typeof answerSchema>;

/** A probe failed in a way that says nothing about the application. */
export class UnseenError extends Error {
    override readonly name = "UnseenError";
}

/** If this machine is later than this, in milliseconds, it was asleep or too busy, and the probe shows nothing. */
export const maxLateMs = 1_000;

export function missed(at: number, lateMs: number, latencyMs = 0): Answer {
    const problem = `this machine was busy or asleep for ${describeMilliseconds(lateMs)}`;
    return { at, latencyMs, good: false, problem, unseen: true };
}

export type Found = Pick<Answer, "status" | "problem">;

/**
 * Sends one probe. The answer is good if the probe finds no problem within the time.
 *
 * @param probe notes in `late` what is known if its time runs out. @default that there was no answer
 * @param failures what it says of the application if a probe fails or takes too long: that it is bad, or nothing
 */
export async function answerOf(
    probe: (signal: AbortSignal, late: Found) => Promise<Found>,
    timeoutMs: number,
    failures: "bad" | "unseen" = "bad",
): Promise<Answer> {
    const at = Date.now();
    const begun = performance.now();
    const signal = AbortSignal.timeout(timeoutMs);
    const failure = (problem: string, error?: Error): Omit<Answer, "at" | "latencyMs" | "good"> => ({
        problem,
        ...((failures === "unseen" || error instanceof UnseenError) && { unseen: true }),
    });
    const late: Found = {};
    const tooLate = new Promise<ReturnType<typeof failure>>((resolve) =>
        signal.addEventListener("abort", () =>
            resolve({ ...late, ...failure(late.problem ?? `no answer within ${timeoutMs} ms`) }),
        ),
    );
    const failed = (error: Error) => (signal.aborted ? tooLate : failure(problemOf(error), error));
    const found = await Promise.race([probe(signal, late).catch(failed), tooLate]);
    const latencyMs = Math.round(performance.now() - begun);
    const lateMs = latencyMs - timeoutMs;
    return lateMs > maxLateMs
        ? missed(at, lateMs, latencyMs)
        : { at, latencyMs, good: found.problem === undefined, ...found };
}
