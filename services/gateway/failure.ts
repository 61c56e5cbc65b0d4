import { ProblemError, problemType } from "../shared/problem";

/** How a call to a backend fails. */
export type Kind = "unreachable" | "timeout" | "bad-answer";

const STATUS: Record<Kind, number> = { unreachable: 502, timeout: 504, "bad-answer": 502 };
const TITLE: Record<Kind, string> = {
    unreachable: "A backend cannot be reached",
    timeout: "A backend took too long",
    "bad-answer": "A backend gave a bad answer",
};

/**
 * A call to a backend failed: status 504 for a timeout, otherwise 502. The message, the backend's name and `what`, is
 * safe for clients; the cause is not.
 */
export class BackendFailure extends ProblemError {
    constructor(
        readonly backend: string,
        readonly kind: Kind,
        what: string,
        override readonly cause?: unknown,
    ) {
        super({
            type: problemType(`backend-${kind}`),
            title: TITLE[kind],
            status: STATUS[kind],
            detail: `${backend} ${what}`,
            backend,
        });
        this.name = "BackendFailure";
    }

    /** Whether DNS says that the backend's name does not exist. */
    get unknownName(): boolean {
        return (this.cause as NodeJS.ErrnoException | undefined)?.code === "ENOTFOUND";
    }
}

/** The system's error codes in words. */
const MEANING: Record<string, string> = {
    ECONNREFUSED: "refused the connection",
    ECONNRESET: "closed the connection before it answered",
    EPIPE: "closed the connection before it answered",
    ENOTFOUND: "does not resolve in DNS",
    EAI_AGAIN: "could not be resolved: DNS does not answer",
    EHOSTUNREACH: "cannot be reached: no route to it",
    ENETUNREACH: "cannot be reached: no route to it",
    ETIMEDOUT: "did not accept the connection",
};

/** Converts an error of `node:http`: a response that is not HTTP is a bad answer, the rest is unreachable. */
export function failureOf(backend: string, error: unknown): BackendFailure {
    if (error instanceof BackendFailure) return error;
    const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
    if (code.startsWith("HPE_"))
        return new BackendFailure(backend, "bad-answer", "answered with something that is not HTTP.", error);
    return new BackendFailure(backend, "unreachable", `${MEANING[code] ?? "could not be reached"}.`, error);
}
