import { STATUS_CODES } from "node:http";

/**
 * A problem document (RFC 9457). Clients read it: addresses, stack traces and messages of other programs belong in the
 * log instead.
 */
export interface Problem {
    /** Identifies the kind of problem; `about:blank` adds nothing to the status. */
    type: string;
    /** The kind in a few words, the same for all problems of a type. */
    title: string;
    /** The HTTP status of the response. */
    status: number;
    /** What happened this time. */
    detail: string;
    /** Extension members, for example `backend`. */
    [extension: string]: unknown;
}

/**
 * The `type` of a problem of this shop. A tag URI (RFC 4151): the type needs a name but no page, and the shop has no
 * public address to serve one.
 */
export function problemType(kind: string): string {
    return `tag:chaos-shop.example,2026:problem/${kind}`;
}

/** A response with a problem document. Never cached: problems pass. */
export function problemResponse(problem: Problem, headers: Record<string, string> = {}): Response {
    return new Response(JSON.stringify(problem), {
        status: problem.status,
        headers: { "Content-Type": "application/problem+json", "Cache-Control": "no-store", ...headers },
    });
}

/** Thrown anywhere in a request, ends it with a problem document. */
export class ProblemError extends Error {
    constructor(
        readonly problem: Problem,
        readonly headers: Record<string, string> = {},
    ) {
        super(problem.detail);
        this.name = "ProblemError";
    }
}

/** A response to a readiness probe. */
export function notReady(detail: string): Response {
    return problemResponse({ type: problemType("not-ready"), title: "Not ready", status: 503, detail });
}

/** A problem without a type, described by its status and detail. */
export function plainProblem(status: number, detail: string): Problem {
    return { type: "about:blank", title: STATUS_CODES[status]!, status, detail };
}
