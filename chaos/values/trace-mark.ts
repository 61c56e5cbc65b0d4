import { createHmac, randomBytes } from "node:crypto";

/**
 * The ID of a new trace. Its second half is a hash of the first, by which it is recognized with the key: an application
 * that passes traces on keeps the ID, and replaces everything else of the header `traceparent`.
 * @returns 32 hexadecimal digits
 */
export function markedTraceId(key: string): string {
    const first = randomBytes(8).toString("hex");
    return first + secondOf(first, key);
}

/** Whether a header has a trace ID that was made with this key, in any of the formats that have 128 bits. */
export function isMarked(headers: readonly (readonly [name: string, value: string])[], key: string): boolean {
    return headers.some(([name, value]) => {
        if (!/trace|^b3$/.test(name)) return false;
        const id = /(?<![\da-f])[\da-f]{32}(?![\da-f])/i.exec(value.slice(0, 200))?.[0].toLowerCase();
        return id !== undefined && id.slice(16) === secondOf(id.slice(0, 16), key);
    });
}

const secondOf = (first: string, key: string) => createHmac("sha256", key).update(first).digest("hex").slice(0, 16);

/**
 * The header `traceparent` of a request that begins its own trace. As for load generators and synthetic checks, a
 * request is a trace, because trace stores do not take the thousands of requests of a run as one.
 *
 * @param key by which the trace is recognized as a check's. @default it is not recognized
 * @see https://www.w3.org/TR/trace-context/#traceparent-header
 */
export function newTraceparent(key?: string): { traceId: string; traceparent: string } {
    const traceId = key === undefined ? randomBytes(16).toString("hex") : markedTraceId(key);
    // Flag 1 means sampled: applications that trace only a share of their requests keep this one.
    return { traceId, traceparent: `00-${traceId}-${parentIdOf(traceId)}-01` };
}

/** The ID that `newTraceparent` gives to the request itself, of which the application's spans are children. */
export const parentIdOf = (traceId: string): string => traceId.slice(16);
