import { ofCertificate } from "../../kinds/checks/request";
import { connectionProblems } from "../../cluster/problem";

/**
 * Says what is wrong with the URL of a receiver. A URL that may have a password is not quoted. @param remedy where a
 * password belongs
 */
export function mistakeInUrl(text: string, remedy: string): string | undefined {
    const form = "allowed: http:// or https://, a host, and if needed a port and a path";
    if (!URL.canParse(text)) return `not an absolute URL; ${form}`;
    const { protocol, username, password, search, hash } = new URL(text);
    if (username || password) return `other programs would see the user and the password; ${remedy}`;
    if (protocol !== "http:" && protocol !== "https:") return `"${text}" is not a URL of HTTP; ${form}`;
    return search || hash ? `a query or a fragment is not allowed; ${form}` : undefined;
}

export interface Receiver {
    /** What is sent, such as `the traces`. */
    what: string;
    url: string;
    /** What to set if it rejects the credentials. */
    credentials: string;
}

export class RefusedError extends Error {
    override readonly name = "RefusedError";

    /** @param detail the receiver's answer, if that is text */
    constructor(
        readonly status: number,
        readonly detail?: string,
    ) {
        super(`status ${status}`);
    }
}

export const unsent = ({ what, url, credentials }: Receiver, error: unknown): Error =>
    new Error(`${what} could not be sent to ${url}: ${whyUnsent(error, credentials)}`);

function whyUnsent(error: unknown, credentials: string): string {
    if (error instanceof RefusedError) {
        const { status, detail } = error;
        return `${whyRefused(status, credentials)}${detail === undefined ? "" : `. It says: ${detail}`}`;
    }
    const { name, message, cause, code = "" } = error as Error & { code?: string };
    // `fetch` throws an error whose cause is the reason.
    if (cause !== undefined) return whyUnsent(cause, credentials);
    if (name === "TimeoutError" || message === "Request timed out") return "it did not answer in time";
    if (ofCertificate.test(code))
        return `its certificate is not valid (${code}). If your own CA signed it, set NODE_EXTRA_CA_CERTS to its file`;
    const problem = connectionProblems[code];
    return problem === undefined ? message : `it ${problem}`;
}

function whyRefused(status: number, credentials: string): string {
    if (status === 401 || status === 403) return `it rejects the credentials (${status}). Set ${credentials}`;
    if (status === 404) return "nothing is there (404). Correct the URL";
    return `it answered with status ${status}`;
}
