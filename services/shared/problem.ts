/**
 * A problem document of RFC 9457. What stands in it reaches the client: no addresses, no stack traces, no words of
 * other programs; those belong in the log.
 */
export interface Problem {
    /** Identifies the kind of problem; `about:blank` says no more than the status does. */
    type: string;
    /** The kind in a few words, the same for each problem of a type. */
    title: string;
    /** The HTTP status, the same as the response's. */
    status: number;
    /** What happened this time. */
    detail: string;
    /** Extension members, for example `backend`. */
    [extension: string]: unknown;
}

/**
 * The `type` of a problem of this shop. A tag URI (RFC 4151), because a problem type needs a name and not a page:
 * the shop has no public address under which a page could stand.
 */
export function problemType(kind: string): string {
    return `tag:chaos-shop.example,2026:problem/${kind}`;
}

/** The response that carries a problem document; never cached, since a problem passes. */
export function problemResponse(problem: Problem, headers: Record<string, string> = {}): Response {
    return new Response(JSON.stringify(problem), {
        status: problem.status,
        headers: { "Content-Type": "application/problem+json", "Cache-Control": "no-store", ...headers },
    });
}

/** Ends a request with a problem document, from wherever it is thrown. */
export class ProblemError extends Error {
    constructor(
        readonly problem: Problem,
        readonly headers: Record<string, string> = {},
    ) {
        super(problem.detail);
        this.name = "ProblemError";
    }
}

/** A problem that its status says enough about, but for what happened this time. */
export function plainProblem(status: number, title: string, detail: string): Problem {
    return { type: "about:blank", title, status, detail };
}
