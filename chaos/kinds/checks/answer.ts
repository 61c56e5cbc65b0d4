import * as z from "zod";
import { problemOf } from "../../cluster/problem";
import { describeMilliseconds } from "../../values/duration";
import { instant, milliseconds } from "../../values/texts";
import { afterRunning, jitterMs, stalledBetween, watchStalls } from "./stalls";

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
        .describe(
            "How late this machine was to send the probe and read its answer: at most, and absent if no more than " +
                "10 ms. If the answer is unseen, it is for that",
        ),
});
export type Answer = z.infer<typeof answerSchema>;

/** Whether nothing is known by an answer because this machine was too late. */
export const isStalled = ({ unseen, stalledMs }: Answer): boolean => unseen === true && stalledMs !== undefined;

/** A probe failed in a way that says nothing about the application. */
export class UnseenError extends Error {
    override readonly name = "UnseenError";
}

/** If this machine is later than this, in milliseconds, it was asleep or too busy, and the probe shows nothing. */
const maxLateMs = 1_000;

/**
 * If this machine stalled for longer than this, in milliseconds, that may be why a connection or a program failed: both
 * may have limits of their own. A busy machine takes 200 ms only to start a program.
 */
const failingStallMs = 750;

function missed(at: number, lateMs: number, latencyMs = lateMs): Answer {
    const problem = `this machine was busy or asleep for ${describeMilliseconds(lateMs)}`;
    return { at, latencyMs: Math.round(latencyMs), good: false, problem, unseen: true, stalledMs: Math.round(lateMs) };
}

/**
 * Sends a probe that is due, unless this machine is too late for it. Its latency counts from when it was due: otherwise
 * a stall of this machine would hide how long somebody would have waited ("coordinated omission").
 *
 * @param due.at in milliseconds since the epoch
 * @param due.lateMs how late this machine is; no more than `jitterMs` is in time
 * @param due.crowdMs set if it is sent with many others: after how long a stall. If it fails, nothing is known.
 *   @default it is sent by itself
 * @param limitMs an answer that is good, but not within this time since it was due, is not good. Nothing is known by it
 *   if it would be in time without the delay of this machine. @default no limit
 */
export async function answerDue(
    ask: () => Promise<Answer>,
    due: { at: number; lateMs: number; crowdMs?: number },
    limitMs = Infinity,
): Promise<Answer> {
    if (due.lateMs > maxLateMs) return missed(due.at, due.lateMs);
    const answer = await answerLate(ask, due, limitMs);
    if (due.crowdMs === undefined || answer.good || answer.unseen) return answer;
    const problem = `${answer.problem}, sent with others at once after this machine was busy or asleep`;
    return { ...answer, problem, unseen: true, stalledMs: Math.max(answer.stalledMs ?? 0, Math.round(due.crowdMs)) };
}

async function answerLate(
    ask: () => Promise<Answer>,
    { at, lateMs }: { at: number; lateMs: number },
    limitMs: number,
): Promise<Answer> {
    const sentLateMs = lateMs > jitterMs ? Math.round(lateMs) : 0;
    const asked = await ask();
    const answer = { ...asked, at, latencyMs: asked.latencyMs + sentLateMs };
    const readLateMs = asked.stalledMs ?? 0;
    const stalledMs = sentLateMs + readLateMs;
    // Then something else is why nothing is known.
    const isLost = asked.unseen === true && asked.stalledMs === undefined;
    if (stalledMs > 0 && !isLost) answer.stalledMs = stalledMs;
    if (!answer.good || answer.latencyMs <= limitMs) return answer;
    const late = `good ${answer.latencyMs} ms after it was due (required: at most ${limitMs} ms)`;
    if (answer.latencyMs - stalledMs > limitMs) return { ...answer, good: false, problem: late };
    const how = [
        ...(sentLateMs > 0 ? [`sent it ${sentLateMs} ms late`] : []),
        ...(readLateMs > 0 ? [`was busy or asleep for ${readLateMs} ms before it read the answer`] : []),
    ].join(" and ");
    return { ...answer, good: false, problem: `${late}, but this machine ${how}`, unseen: true };
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
    const timeUp = new AbortController();
    const { signal } = timeUp;
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
    const unwatch = watchStalls();
    let hadItsTime = false;
    const cancel = afterRunning(timeoutMs, maxLateMs, (isWhole) => {
        hadItsTime = isWhole;
        timeUp.abort();
    });
    try {
        const found = await Promise.race([probe(signal, late).catch(failed), tooLate]);
        const latencyMs = Math.round(performance.now() - begun);
        const { delayMs, longestMs } = stalledBetween(begun);
        const lateMs = latencyMs - timeoutMs;
        if (lateMs > maxLateMs && !hadItsTime) return missed(at, lateMs, latencyMs);
        const answer: Answer = { at, latencyMs, good: found.problem === undefined, ...found };
        if (answer.unseen || delayMs === 0) return answer;
        const stalled = { ...answer, stalledMs: Math.round(delayMs) };
        if (answer.good || failures === "unseen" || hadItsTime) return stalled;
        // Once its head has come, an answer is the application's.
        const isAnswered = late.problem !== undefined;
        const isOwn = signal.aborted || (!isAnswered && longestMs > failingStallMs);
        return isOwn ? spoiledByStall(stalled) : stalled;
    } finally {
        cancel();
        unwatch();
    }
}

function spoiledByStall(answer: Answer & { stalledMs: number }): Answer {
    const during = `while this machine was busy or asleep for ${describeMilliseconds(answer.stalledMs)}`;
    return { ...answer, problem: `${answer.problem}, ${during}`, unseen: true };
}
