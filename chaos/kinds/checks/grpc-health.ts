/**
 * One question of gRPC's health protocol, over HTTP/2. Its two messages have one field each.
 *
 * @see https://github.com/grpc/grpc/blob/master/doc/health-checking.md
 * @see https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
 */
import { connect, type IncomingHttpHeaders, type SecureClientSessionOptions } from "node:http2";
import { messageOf } from "../../cluster/client";
import { fieldManager } from "../../cluster/labels";
import { type AddressOptions, addressTimeoutMs } from "../../cluster/logins";
import type { Found } from "./answer";
import { unended } from "./body";
import { type Access, unreached } from "./request";
import { withUuids } from "./request-parts";
import { excerpt } from "./values";
import { grpcStatuses } from "../../values/grpc-status";
import { wordOf } from "../../values/quoted";

const method = "/grpc.health.v1.Health/Check";

/** Longer answers are not read, in bytes: the whole message has two. */
const mostBytes = 65_536;

/** `HealthCheckResponse.ServingStatus` by its numbers. */
const servingStatuses = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

export interface HealthRequest {
    /** The service whose health is asked. Empty for the whole server's. */
    service: string;
    /** Metadata; see `Request.headers`. */
    headers?: Record<string, string>;
    /** In milliseconds. The server is told it; the caller's signal ends the request. */
    timeoutMs: number;
}

/**
 * Asks once, over a fresh connection, as `send` does.
 *
 * @param url of the server, with `http` for HTTP/2 in clear text
 * @param late gets what is known if the time runs out
 * @returns the HTTP status, and why the answer is not `SERVING`
 * @throws UnseenError if there is no answer for a reason that says nothing about the server
 * @throws Error if there is no answer
 */
export function askHealth(
    { service, headers = {}, timeoutMs }: HealthRequest,
    url: string,
    signal: AbortSignal,
    { ca, serverName: servername, anyCertificate, headers: secret }: Access = {},
    { hide = (text) => text, late = {} }: { hide?: (text: string) => string; late?: Found } = {},
): Promise<Found> {
    const { origin, pathname, protocol } = new URL(url);
    const options: SecureClientSessionOptions & AddressOptions = {
        autoSelectFamilyAttemptTimeout: addressTimeoutMs(timeoutMs),
        ...(protocol === "https:" && { ca, servername, rejectUnauthorized: anyCertificate !== true }),
    };
    return new Promise((resolve, reject) => {
        const session = connect(origin, options);
        const fail = (error: NodeJS.ErrnoException) => reject(whyNot(error, origin));
        const stop = () => session.destroy();
        signal.addEventListener("abort", stop);
        session.on("error", fail).on("close", () => {
            signal.removeEventListener("abort", stop);
            reject(new Error("the connection was closed without an answer"));
        });
        const stream = session.request({
            ...lowerCased({ "user-agent": fieldManager, ...withUuids(headers), ...secret }),
            ":method": "POST",
            ":path": pathname.replace(/\/$/, "") + method,
            "content-type": "application/grpc",
            "grpc-timeout": `${timeoutMs}m`,
            te: "trailers",
        });
        let head: IncomingHttpHeaders | undefined;
        let trailers: IncomingHttpHeaders = {};
        const parts: Buffer[] = [];
        stream.on("response", (received) => {
            head = received;
            const status = Number(received[":status"]);
            Object.assign(late, { status, problem: unended(status, timeoutMs) });
        });
        stream.on("trailers", (received: IncomingHttpHeaders) => (trailers = received));
        stream.on("data", (part: Buffer) => {
            parts.push(part);
            if (parts.reduce((sum, { length }) => sum + length, 0) > mostBytes) stream.close();
        });
        stream.on("error", fail);
        stream.on("close", () => {
            if (head !== undefined)
                resolve({
                    status: Number(head[":status"]),
                    problem: problemWith({ ...head, ...trailers }, Buffer.concat(parts), service, hide),
                });
            session.close();
        });
        stream.end(framed(requestFor(service)));
    });
}

/** Names of headers, in which case does not count, as HTTP/2 has them: the last of several with one name. */
const lowerCased = (headers: Record<string, string>) =>
    Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));

function whyNot(found: NodeJS.ErrnoException, origin: string): Error {
    // Node.js says of the request that it was cancelled.
    const error = (found.cause ?? found) as NodeJS.ErrnoException;
    if (error.code !== "ERR_HTTP2_ERROR") return unreached(error, origin);
    const how = origin.startsWith("https:") ? "HTTP/2" : "HTTP/2 in clear text";
    return new Error(`what answers at ${origin} does not speak ${how}, which gRPC needs: ${messageOf(error)}`);
}

/** Why an answer is not `SERVING`. @param headers of the head and the trailers */
function problemWith(
    headers: IncomingHttpHeaders,
    body: Buffer,
    service: string,
    hide: (text: string) => string,
): string | undefined {
    const { ":status": httpStatus, "content-type": type, "grpc-message": message } = headers;
    const status = `status ${String(httpStatus)}`;
    const code = headers["grpc-status"] as string | undefined;
    if (code === undefined) {
        if (type?.startsWith("application/grpc")) return `${status}, but the answer ended without a gRPC status`;
        return `${status}, and the answer is not gRPC: its content type is ${type ? wordOf(type) : "missing"}`;
    }
    if (code !== "0") {
        const number = Number(code);
        const name: string | undefined = grpcStatuses[number];
        const told = excerpt(hide(decoded(String(message ?? ""))));
        const what = `gRPC status ${name === undefined ? wordOf(code) : `${name} (${number})`}`;
        const hint = { NOT_FOUND: notFound(service), UNIMPLEMENTED: "the server has no grpc.health.v1.Health" }[name!];
        return [what + (hint === undefined ? "" : `, ${hint}`), ...(message ? [told] : [])].join(": ");
    }
    const serving = servingIn(body);
    if (serving === undefined) return "gRPC status OK, but the answer is not that of a health check";
    const name = servingStatuses[serving] ?? `the unknown status ${serving}`;
    return name === "SERVING" ? undefined : name;
}

const notFound = (service: string) =>
    service === ""
        ? "the server does not know its own health"
        : `the server does not know the health of a service ${wordOf(service)}`;

/** gRPC encodes what is not printable ASCII by percents. */
function decoded(message: string): string {
    try {
        return decodeURIComponent(message);
    } catch {
        return message;
    }
}

const fieldOne = { ofText: 0x0a, ofNumber: 0x08 } as const;

/** `HealthCheckRequest`: `string service = 1`. An empty text is left out. */
function requestFor(service: string): Buffer {
    const text = Buffer.from(service);
    if (text.length === 0) return text;
    return Buffer.concat([Uint8Array.of(fieldOne.ofText, ...varint(text.length)), text]);
}

/** Seven bits a byte, the lowest first; all but the last have the eighth. */
const varint = (value: number): number[] =>
    value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(Math.floor(value / 0x80))];

/** Before a message are whether it is compressed, and its length in four bytes. */
function framed(message: Buffer): Buffer {
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    return Buffer.concat([prefix, message]);
}

/**
 * `HealthCheckResponse`: `ServingStatus status = 1`, the last of several, which is left out if it is 0. Other fields
 * are skipped. Undefined if it is another message.
 *
 * @see https://protobuf.dev/programming-guides/encoding/
 */
function servingIn(body: Buffer): number | undefined {
    if (body.length < 5 || body[0] !== 0 || body.length !== 5 + body.readUInt32BE(1)) return undefined;
    let [serving, at] = [0, 5];
    const number = () => {
        for (let [value, unit] = [0, 1]; ; unit *= 0x80) {
            const byte = body[at++] ?? 0;
            value += (byte & 0x7f) * unit;
            if (byte < 0x80) return value;
        }
    };
    while (at < body.length) {
        const field = number();
        const type = field & 7;
        const value = type === 0 || type === 2 ? number() : 0;
        if (field === fieldOne.ofNumber) serving = value;
        if (field === fieldOne.ofText) return undefined;
        // After a number nothing, or 8 bytes, as many as the number before says, or 4. Other types are not in use.
        at += [0, 8, value, NaN, NaN, 4][type] ?? NaN;
    }
    return at === body.length ? serving : undefined;
}
