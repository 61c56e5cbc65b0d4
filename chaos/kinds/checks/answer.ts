import * as z from "zod";
import { problemOf } from "../../cluster/problem";
import { describeMilliseconds } from "../../values/duration";
import { instant, milliseconds } from "../../values/texts";

export const answerSchema = z.object({
    at: instant.describe("When the probe was due; journals of 0.6.0 and earlier: when it was sent"),
    latencyMs: milliseconds.describe("Since then; of a probe that was not sent, how late this machine was"),
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
    stalledMs: milliseconds
        .optional()
        .describe("How late this machine was to send the probe, or to read its answer, if it is unseen for that"),
});
export type Answer = z.infer<typeof answerSchema>;

/** A probe failed in a way that says nothing about the application. */
export class UnseenError extends Error {
    override readonly name = "UnseenError";
}

/** If this machine is later than this, in milliseconds, it was asleep or too busy, and the probe shows nothing. */
const maxLateMs = 1_000;

function missed(at: number, lateMs: number, latencyMs = lateMs): Answer {
    const problem = `this machine was busy or asleep for ${describeMilliseconds(lateMs)}`;
    return { at, latencyMs: Math.round(latencyMs), good: false, problem, unseen: true, stalledMs: Math.round(lateMs) };
}

/**
 * Sends a probe that is due, unless this machine is too late for it. Its latency counts from when it was due: otherwise
 * a stall of this machine would hide how long somebody would have waited ("coordinated omission").
 *
 * @param due.at in milliseconds since the epoch
 * @param due.lateMs how late this machine is
 * @param limitMs an answer that is good, but not within this time since it was due, says nothing. @default no limit
 */
export async function answerDue(
    ask: () => Promise<Answer>,
    { at, lateMs }: { at: number; lateMs: number },
    limitMs = Infinity,
): Promise<Answer> {
    if (lateMs > maxLateMs) return missed(at, lateMs);
    const answer = await ask();
    const stalledMs = Math.round(lateMs);
    const latencyMs = answer.latencyMs + stalledMs;
    if (!answer.good || latencyMs <= limitMs) return { ...answer, at, latencyMs };
    const problem =
        `good ${latencyMs} ms after it was due (required: at most ${limitMs} ms), but this machine sent it ` +
        `${stalledMs} ms late`;
    return { ...answer, at, latencyMs, good: false, problem, unseen: true, stalledMs };
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
