import { METHODS } from "node:http";
import { longestMethod, tokenCharacters } from "../../../../values/http-method";

/**
 * The heads of HTTP/1.x messages (RFC 9112). They are read only to find where messages end; the bytes are passed on as
 * they came. So names keep their case, order and number, versions stay, no limit of an HTTP library applies, and what
 * is ambiguous, such as a length of `1, 2`, is left to the two ends.
 *
 * Node.js's own server and client cannot do that: they send no request in HTTP/1.0, add headers, and after a request
 * with `Upgrade: h2c`, which Java's client sends by default, their connection knows no more requests.
 */
export interface RequestHead {
    method: string;
    /** A path with its query, or what a client has written in its place. */
    target: string;
    /** Names are in lower case. */
    headers: Headers;
    body: Body;
    /** Whether the caller sends the body only when it is told to continue. */
    expectsContinue: boolean;
    /** Whether the caller allows another request on the connection. */
    keepsConnection: boolean;
    minor: number;
}

export interface ResponseHead {
    status: number;
    body: Body;
    /** Whether the rest of the connection is HTTP/2, for which the request has asked. */
    becomesHttp2: boolean;
}

/** `rest`: everything that follows on the connection. */
export type Body = { kind: "length"; bytes: number } | { kind: "chunked" } | { kind: "rest" };

const none: Body = { kind: "length", bytes: 0 };
const rest: Body = { kind: "rest" };

/** Looks for the end of a head in bytes as they come, at each byte once. A line may end with a single `\n`. */
export class HeadEnd {
    /** Where the end of the next line is looked for. Undefined in the empty lines that a head may begin with. */
    private at?: number;

    /** @param bytes all that have come @returns where the head ends. Undefined if its end has not come */
    find(bytes: Buffer): number | undefined {
        this.at ??= afterEmptyLines(bytes);
        if (this.at === undefined) return undefined;
        for (let end = bytes.indexOf(10, this.at); end !== -1; end = bytes.indexOf(10, this.at)) {
            if (bytes[end + 1] === 10) return end + 2;
            if (bytes[end + 1] === 13 && bytes[end + 2] === 10) return end + 3;
            this.at = end;
            if (bytes.length < end + (bytes[end + 1] === 13 ? 3 : 2)) return undefined;
            this.at = end + 1;
        }
        this.at = Math.max(this.at, bytes.length);
        return undefined;
    }
}

/** Empty lines before a head are skipped (RFC 9112, 2.2). With more bytes of them than this, it is no head. */
const maxEmpty = 16;

/** Where the empty lines end. Undefined if more of them may come. */
function afterEmptyLines(bytes: Buffer): number | undefined {
    const length = /^(?:\r?\n)*/.exec(bytes.toString("latin1", 0, maxEmpty))![0].length;
    const isAll = length === bytes.length || (length === bytes.length - 1 && bytes[length] === 13);
    return isAll && bytes.length < maxEmpty ? undefined : length;
}

/** Nothing but HTTP/2 begins with `PRI `. */
const knownMethods = [...METHODS, "PRI"].map((method) => `${method} `);
const methodBefore = new RegExp(`^[${tokenCharacters}]+(?= )`);
/** Empty lines, then what may be a method and the character after it. */
const beginning = new RegExp(`^(?:\\r?\\n)*(\\r?$|[${tokenCharacters}]{0,${longestMethod}}(.?))`, "s");
const statusLine = /^HTTP\/1\.\d (\d{3})(?: |$)/;

/**
 * The parts of the first line, with any number of spaces between them. Undefined if it does not begin a request in
 * HTTP/1.x.
 */
export function requestLine(line: string): { method: string; target: string; minor: number } | undefined {
    const method = methodBefore.exec(line)?.[0];
    const minor = / HTTP\/1\.(\d)$/.exec(line.slice(-" HTTP/1.1".length))?.[1];
    if (method === undefined || minor === undefined) return undefined;
    let [begin, end] = [method.length, line.length - "HTTP/1.1".length];
    while (line[begin] === " ") begin++;
    while (line[end - 1] === " ") end--;
    const target = line.slice(begin, end);
    return /^\S[^\r]*$/.test(target) ? { method, target, minor: Number(minor) } : undefined;
}

/** Looks at what may become the head of a request in HTTP/1.x in clear text, at each byte once. */
export class RequestScan {
    /**
     * Whether another protocol may begin like this: the first line has not ended, and its first word is no method that
     * Node.js knows, nor HTTP/2's. A client of another protocol may send no more before it has an answer.
     */
    doubtful = false;
    private begun = false;
    private readonly end = new HeadEnd();
    /** Where the end of the first line is looked for. Undefined once it was found. */
    private lineAt: number | undefined = 0;

    /** Whether it is a request, complete or not, since nothing else begins like this. */
    get certain(): boolean {
        return this.begun && !this.doubtful;
    }

    /**
     * Looks at the method as it comes: a client of something else, such as a database, may send a few bytes and wait
     * for an answer.
     *
     * @param bytes all that have come
     * @returns where the head ends; `more` if it can still become one, `other` if not
     */
    look(bytes: Buffer): number | "more" | "other" {
        if (!this.begun) {
            const text = bytes.toString("latin1", 0, maxEmpty + longestMethod + 1);
            const [, begin, after] = beginning.exec(text)!;
            if (after ? after !== " " || begin === " " : begin!.trim() === "" && bytes.length > maxEmpty)
                return "other";
            this.begun = after === " ";
            this.doubtful = begin!.trim() !== "" && !knownMethods.some((one) => one.startsWith(begin!));
            if (!this.begun) return "more";
        }
        if (this.lineAt !== undefined) {
            const begin = afterEmptyLines(bytes) ?? 0;
            const end = bytes.indexOf(10, Math.max(begin, this.lineAt));
            this.lineAt = end === -1 ? bytes.length : undefined;
            if (end === -1) return "more";
            if (!requestLine(withoutCr(bytes.toString("latin1", begin, end)))) return "other";
            this.doubtful = false;
        }
        return this.end.find(bytes) ?? "more";
    }
}

/** Whether bytes can still become an answer in HTTP/1.x. */
export function mayBeResponse(bytes: Buffer): boolean {
    const begin = bytes
        .toString("latin1", 0, 32)
        .replace(/^(?:\r?\n)+/, "")
        .slice(0, 7);
    return "HTTP/1.".startsWith(begin) || begin === "\r";
}

/** @returns undefined if it is not the head of a request in HTTP/1.x. @param head with its end */
export function requestHead(head: Buffer): RequestHead | undefined {
    const { first, headers } = linesOf(head);
    const line = requestLine(first);
    if (!line) return undefined;
    const connection = tokens(headers, "connection");
    return {
        ...line,
        headers,
        body: bodyOf(headers, none),
        expectsContinue: tokens(headers, "expect").includes("100-continue"),
        keepsConnection: line.minor === 0 ? connection.includes("keep-alive") : !connection.includes("close"),
    };
}

/** @returns undefined if it is not the head of a response in HTTP/1.x. @param method of its request */
export function responseHead(head: Buffer, method: string): ResponseHead | undefined {
    const { first, headers } = linesOf(head);
    const status = Number(statusLine.exec(first)?.[1] ?? NaN);
    if (Number.isNaN(status)) return undefined;
    const becomesHttp2 = status === 101 && tokens(headers, "upgrade").includes("h2c");
    return { status, body: responseBody(status, method, headers), becomesHttp2 };
}

/** In the order of RFC 9112, 6.3. */
function responseBody(status: number, method: string, headers: Headers): Body {
    if (status === 101 || (method === "CONNECT" && status >= 200 && status < 300)) return rest;
    if (method === "HEAD" || status < 200 || status === 204 || status === 304) return none;
    return bodyOf(headers, rest);
}

/** Changes a head so that the connection closes after its message. */
export function closing(head: Buffer): Buffer {
    const lines = head.toString("latin1").split("\n");
    const kept = lines.filter((line, index) => index === 0 || !/^(connection|keep-alive)[ \t]*:/i.test(line));
    kept.splice(1, 0, "Connection: close\r");
    return Buffer.from(kept.join("\n"), "latin1");
}

type Headers = [name: string, value: string][];

function bodyOf(headers: Headers, without: Body): Body {
    const codings = tokens(headers, "transfer-encoding");
    if (codings.length > 0) return codings.at(-1) === "chunked" ? { kind: "chunked" } : rest;
    const lengths = new Set(tokens(headers, "content-length"));
    if (lengths.size === 0) return without;
    const [length] = lengths;
    return lengths.size === 1 && /^\d{1,15}$/.test(length!) ? { kind: "length", bytes: Number(length) } : rest;
}

const tokens = (headers: Headers, wanted: string): string[] =>
    headers
        .filter(([name]) => name === wanted)
        .flatMap(([, value]) => value.split(","))
        .map((token) => token.trim().toLowerCase())
        .filter((token) => token !== "");

function linesOf(head: Buffer): { first: string; headers: Headers } {
    const text = head.toString("latin1").replace(/^(?:\r?\n)+/, "");
    const [first, ...lines] = text.split("\n").map(withoutCr);
    const headers = lines.flatMap((line): Headers => {
        const colon = line.indexOf(":");
        return colon === -1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1)]];
    });
    return { first: first!, headers };
}

const withoutCr = (line: string) => (line.endsWith("\r") ? line.slice(0, -1) : line);
