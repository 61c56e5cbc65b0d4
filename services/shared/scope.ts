import { randomBytes, randomUUID } from "node:crypto";
import type { Log } from "./log";

/** One request, as one of the programs that serve it sees it. */
export interface Scope {
    /** Names the request in every program's log: the client's own id if it is valid. */
    requestId: string;
    /** The program's log, each line with `requestId` and `traceId`. */
    log: Log;
    /** Headers for the next program's HTTP request, or for a message to the broker. */
    headers: Readonly<Record<string, string>>;
}

declare module "hono" {
    interface ContextVariableMap {
        scope: Scope;
    }
}

/** Letters, digits and a few signs that are safe in a log, a header or a search box. */
const VALID_REQUEST_ID = /^[\w.:=+/-]{1,128}$/;

/**
 * `traceparent` of W3C Trace Context, section 3.2: version, trace id, parent id, flags. All-zero ids and version ff are
 * invalid. Later versions may append to the four fields of version 00.
 */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-([\da-f]{2})(-.*)?$/;

/** The only flag of version 00; section 3.2.2.5 wants the other bits passed on as zero. */
const SAMPLED = 0x01;

/** Section 3.3.1.5 wants at least this many characters of `tracestate` passed on. */
const LONGEST_TRACESTATE = 512;

/**
 * Continues the request that the headers describe. Missing or invalid headers begin a new request id and a new trace.
 * The program has its own span id in the trace.
 *
 * @param header reads a header of the HTTP request or the message by its lower-case name
 */
export function openScope(header: (name: string) => string | undefined, log: Log): Scope {
    const given = header("x-request-id");
    const requestId = given !== undefined && VALID_REQUEST_ID.test(given) ? given : randomUUID();
    const parent = readTraceparent(header("traceparent"));
    const traceId = parent?.traceId ?? randomBytes(16).toString("hex");
    const headers: Record<string, string> = {
        "X-Request-Id": requestId,
        traceparent: `00-${traceId}-${randomBytes(8).toString("hex")}-${parent?.flags ?? "00"}`,
    };
    // Section 3.3: without its traceparent, tracestate means nothing.
    const state = parent && header("tracestate");
    if (state && state.length <= LONGEST_TRACESTATE) headers.tracestate = state;
    return { requestId, log: log.child({ requestId, traceId }), headers };
}

function readTraceparent(text: string | undefined): { traceId: string; flags: string } | undefined {
    const [, version, traceId, flags, more] = TRACEPARENT.exec(text ?? "") ?? [];
    if (traceId === undefined || (version === "00" && more !== undefined)) return undefined;
    return { traceId, flags: (Number.parseInt(flags!, 16) & SAMPLED).toString().padStart(2, "0") };
}
