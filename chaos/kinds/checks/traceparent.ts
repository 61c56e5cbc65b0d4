import { randomBytes } from "node:crypto";
import { markedTraceId } from "../../values/trace-mark";

/**
 * The header `traceparent` of a request that begins a trace of its own: as for load generators and synthetic checks, a
 * request is a trace, since a run's thousands of requests would be more than trace stores take as one.
 *
 * @param key by which others recognize the trace as a check's. @default they do not
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 * @returns also the trace's ID: 32 hexadecimal digits
 */
export function newTraceparent(key?: string): { traceId: string; traceparent: string } {
    const traceId = key === undefined ? randomBytes(16).toString("hex") : markedTraceId(key);
    // Flag 1, sampled: applications that trace a share of their requests keep these.
    return { traceId, traceparent: `00-${traceId}-${parentIdOf(traceId)}-01` };
}

/** The ID that `newTraceparent` gives the request itself, of which the application's spans are children. */
export const parentIdOf = (traceId: string): string => traceId.slice(16);
