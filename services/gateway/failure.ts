import { ProblemError, problemType } from "../shared/problem";

/** What can become of asking a backend, besides an answer. */
export type Kind = "unreachable" | "timeout" | "bad-answer";

const STATUS: Record<Kind, number> = { unreachable: 502, timeout: 504, "bad-answer": 502 };
const TITLE: Record<Kind, string> = {
    unreachable: "A backend cannot be reached",
    timeout: "A backend took too long",
    "bad-answer": "A backend gave a bad answer",
};

/**
 * Why a backend's products could not be had: a problem of 504 for a time-out, of 502 for anything else. The message may
 * be read by the client; the cause may not.
 */
export class BackendFailure extends ProblemError {
    constructor(
        readonly backend: string,
        readonly kind: Kind,
        message: string,
        override readonly cause?: unknown,
    ) {
        super({
            type: problemType(`backend-${kind}`),
            title: TITLE[kind],
            status: STATUS[kind],
            detail: message,
            backend,
        });
        this.name = "BackendFailure";
    }

    /** Whether there is nobody of that name, as far as DNS knows. */
    get unknownName(): boolean {
        return (this.cause as NodeJS.ErrnoException | undefined)?.code === "ENOTFOUND";
    }
}

/** What the system's error codes mean to somebody who asked for products. */
const MEANING: Record<string, string> = {
    ECONNREFUSED: "refused the connection",
    ECONNRESET: "closed the connection before it had answered",
    EPIPE: "closed the connection before it had answered",
    ENOTFOUND: "has a name that does not resolve",
    EAI_AGAIN: "has a name that could not be resolved",
    EHOSTUNREACH: "cannot be reached: the network knows no way to it",
    ENETUNREACH: "cannot be reached: the network knows no way to it",
    ETIMEDOUT: "did not accept the connection",
};

/** Turns an error of `node:http` into a failure: an answer that is no HTTP is a bad one, the rest is unreachable. */
export function failureOf(backend: string, error: unknown): BackendFailure {
    if (error instanceof BackendFailure) {
        return error;
    }
    const code = (error as NodeJS.ErrnoException | undefined)?.code ?? "";
    if (code.startsWith("HPE_")) {
        return new BackendFailure(backend, "bad-answer", `${backend} answered with something that is not HTTP.`, error);
    }
    return new BackendFailure(backend, "unreachable", `${backend} ${MEANING[code] ?? "could not be reached"}.`, error);
}
