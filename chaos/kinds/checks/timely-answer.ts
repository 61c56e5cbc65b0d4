/** What checks have in common whose probe is one request of a trace: over HTTP/1.1 or HTTP/2. */
import { type Answer, answerOf, type Found } from "./answer";
import { spoiledBySilence } from "./api-server";
import type { CheckContext } from "./check-kind";
import type { EndpointSettings } from "./endpoint-schema";
import type { Endpoint } from "./endpoints";
import { newTraceparent } from "../../values/trace-mark";

interface Timely extends Pick<EndpointSettings, "headers"> {
    /** Slower answers are bad, in milliseconds. @default only the time limit applies */
    maxLatencyMs?: number;
}

export type Asking = Pick<Endpoint, "access" | "hide"> & Pick<CheckContext, "pulse" | "traceKey">;

/** As `answerOf`. @param headers those of the check, and of a trace that begins with the request */
export type Ask = (headers: Record<string, string>, signal: AbortSignal, late: Found) => Promise<Found>;

/**
 * Sends a request that begins a trace. A good answer that is too late is bad; nothing is known by it if this machine
 * or its network is why.
 *
 * @param describe what was good about an answer that came too late
 */
export async function timelyAnswer(
    check: Timely,
    { access, hide, pulse, traceKey }: Asking,
    timeoutMs: number,
    describe: (answer: Answer) => string,
    ask: Ask,
): Promise<Answer> {
    const { maxLatencyMs = Infinity } = check;
    const begun = performance.now();
    const traced = tracedBy(check, access, traceKey);
    const headers = { ...traced?.headers, ...check.headers };
    const answer = await answerOf((signal, late) => ask(headers, signal, late), timeoutMs);
    if (answer.good && answer.latencyMs <= maxLatencyMs) return answer;
    const { stalledMs = 0 } = answer;
    const ofThem = stalledMs > 0 ? `, of which this machine was busy or asleep for ${stalledMs} ms` : "";
    const problem = answer.good
        ? `${describe(answer)} after ${answer.latencyMs} ms${ofThem} (required: at most ${maxLatencyMs} ms)`
        : hide(answer.problem!);
    const bad = { ...answer, good: false, problem, ...(traced && { traceId: traced.traceId }) };
    if (answer.good && answer.latencyMs - stalledMs <= maxLatencyMs) return { ...bad, unseen: true };
    // The answer is only late. The application is not to blame if this machine's network stalled for half that time.
    return answer.good && pulse?.wasSilentSince(begun) ? spoiledBySilence(bad) : bad;
}

/** Begins a new trace. Undefined if the definition has the header `traceparent` itself. */
function tracedBy({ headers }: Timely, access: Endpoint["access"], key: string | undefined) {
    const own = Object.keys({ ...headers, ...access.headers }).map((name) => name.toLowerCase());
    if (own.includes("traceparent")) return undefined;
    const { traceId, traceparent } = newTraceparent(key);
    return { traceId, headers: { traceparent } };
}
