import { randomBytes, randomUUID } from "node:crypto";
import type { Log } from "./log";

/** What belongs to one request on its way through the shop, in one of its programs. */
export interface Scope {
    /** Names the request in every program's log; the client's own where it sent a sane one. */
    requestId: string;
    /** The program's log, each line with `requestId` and `traceId`. */
    log: Log;
    /** What the next program must be told: headers for an HTTP request or for a message to the broker. */
    headers: Readonly<Record<string, string>>;
}

declare module "hono" {
    interface ContextVariableMap {
        scope: Scope;
    }
}

/** Letters, digits and a few signs: what can stand in a log, a header or a search box as it is. */
const SANE_REQUEST_ID = /^[\w.:=+/-]{1,128}$/;

/**
 * `traceparent` of W3C Trace Context, section 3.2: version, trace id, parent id, flags. Ids of zeros are invalid, as is
 * version ff; a later version may append to version 00's four fields.
 */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-([\da-f]{2})(-.*)?$/;

/** The one flag that version 00 has; section 3.2.2.5 wants the other bits to be zero in what is passed on. */
const SAMPLED = 0x01;

/** The most of `tracestate` that section 3.3.1.5 wants to be passed on. */
const LONGEST_TRACESTATE = 512;

/**
 * Continues a request that came with headers, or begins one where they say nothing sane: a new request id, a new trace.
 * In the trace this program appears under a span id of its own.
 *
 * @param header reads a header of the HTTP request or of the broker's message, by its lower-case name
 * @param log the program's
 */
export function openScope(header: (name: string) => string | undefined, log: Log): Scope {
    const given = header("x-request-id");
    const requestId = given !== undefined && SANE_REQUEST_ID.test(given) ? given : randomUUID();
    const parent = readTraceparent(header("traceparent"));
    const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
    const headers: Record<string, string> = {
        "X-Request-Id": requestId,
        traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-${parent?.flags ?? "00"}`,
    };
    // Section 3.3: without the traceparent that it belongs to, it means nothing.
    const state = parent && header("tracestate");
    if (state && state.length <= LONGEST_TRACESTATE) {
        headers.tracestate = state;
    }
    return { requestId, log: log.child({ requestId, traceId }), headers };
}

function readTraceparent(text: string | undefined): { traceId: string; flags: string } | undefined {
    const [, version, traceId, flags, more] = TRACEPARENT.exec(text ?? "") ?? [];
    if (traceId === undefined || (version === "00" && more !== undefined)) return undefined;
    return { traceId, flags: (Number.parseInt(flags!, 16) & SAMPLED).toString().padStart(2, "0") };
}
