import { METHODS } from "node:http";

/**
 * The heads of HTTP/1.x messages (RFC 9112). They are read only to find where messages end: what is passed on are the
 * bytes as they came. So names keep their case, order and number, versions stay as they are, and no limit of an HTTP
 * library bites. It also leaves what cannot be told for certain, such as a length of `1, 2`, to the two ends.
 *
 * Node's own server and client would not do: they cannot send a request in HTTP/1.0, add headers, and after a request
 * with `Upgrade: h2c`, which Java's client sends by default, their connection knows no more requests.
 */
export interface RequestHead {
    method: string;
    /** A path with its query, or what else stands there. */
    target: string;
    /** Names are in lower case. */
    headers: Headers;
    /** Where the request ends after its head. */
    body: Body;
    /** The caller sends the body only when it was told to continue. */
    expectsContinue: boolean;
    /** Whether the caller allows another request on the connection. */
    keepsConnection: boolean;
    /** The minor version of HTTP/1. */
    minor: number;
}

export interface ResponseHead {
    status: number;
    /** Where the response ends after its head. */
    body: Body;
    /** Whether the rest of the connection is HTTP/2, as the request has asked for. */
    becomesHttp2: boolean;
}

/** `rest`: all that follows on the connection. */
export type Body = { kind: "length"; bytes: number } | { kind: "chunked" } | { kind: "rest" };

const none: Body = { kind: "length", bytes: 0 };
const rest: Body = { kind: "rest" };

/** Where a head ends. Undefined if the end is not there. A line may end with a single `\n`, as in RFC 9112, 2.2. */
export function endOfHead(bytes: Buffer): number | undefined {
    const start = /^(?:\r?\n)*/.exec(bytes.toString("latin1", 0, 16))![0].length;
    for (let at = bytes.indexOf(10, start); at !== -1; at = bytes.indexOf(10, at + 1)) {
        if (bytes[at + 1] === 10) return at + 2;
        if (bytes[at + 1] === 13 && bytes[at + 2] === 10) return at + 3;
    }
    return undefined;
}

const methods = METHODS.map((method) => `${method} `);
const longestMethod = Math.max(...methods.map(({ length }) => length));
const requestLine = /^([A-Z-]+) +(\S.*?) +HTTP\/1\.(\d)$/;
const statusLine = /^HTTP\/1\.\d (\d{3})(?: |$)/;

/**
 * Whether a connection's first bytes can still become a request in HTTP/1.x in clear text. The method is looked at as
 * it comes, since others, such as a client of a database, may send a few bytes and then wait for an answer.
 */
export function mayBeRequest(bytes: Buffer): boolean {
    const text = bytes.toString("latin1").replace(/^(?:\r?\n)+/, "");
    const begin = text.slice(0, longestMethod);
    if (!methods.some((method) => method.startsWith(begin) || begin.startsWith(method))) return text.trim() === "";
    const [line, ...more] = text.split("\n", 2);
    return more.length === 0 || requestLine.test(withoutCr(line!));
}

/** Whether bytes can still become an answer in HTTP/1.x. */
export function mayBeResponse(bytes: Buffer): boolean {
    const begin = bytes
        .toString("latin1", 0, 32)
        .replace(/^(?:\r?\n)+/, "")
        .slice(0, 7);
    return "HTTP/1.".startsWith(begin) || begin === "\r";
}

/** A request's head. Undefined if it is none of HTTP/1.x. @param head with its end */
export function requestHead(head: Buffer): RequestHead | undefined {
    const { first, headers } = linesOf(head);
    const [, method, target, minor] = requestLine.exec(first) ?? [];
    if (!method) return undefined;
    const connection = tokens(headers, "connection");
    return {
        method,
        target: target!,
        headers,
        minor: Number(minor),
        body: bodyOf(headers, none),
        expectsContinue: tokens(headers, "expect").includes("100-continue"),
        keepsConnection: minor === "0" ? connection.includes("keep-alive") : !connection.includes("close"),
    };
}

/** A response's head. Undefined if it is none of HTTP/1.x. @param method of its request */
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

/** The same head, but the connection closes after its message. */
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
