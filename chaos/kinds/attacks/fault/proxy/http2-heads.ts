/** The heads of requests and answers in HTTP/2, and their trailers, as Node.js gives and takes them. */
import type { IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import type { Matchable } from "./matcher";

export interface Head {
    headers: IncomingHttpHeaders;
    /** Names and values in turns, as they came. */
    raw: readonly string[];
    /** Whether nothing follows it. */
    ends: boolean;
}

export const isGrpc = ({ "content-type": type = "" }: IncomingHttpHeaders) =>
    /^application\/grpc(?:$|[+;])/i.test(type);

/** Whether an answer has no body, whatever its fields say. */
export const hasNoBody = (asked: IncomingHttpHeaders, { ":status": status }: IncomingHttpHeaders) =>
    asked[":method"] === "HEAD" || [204, 205, 304].includes(Number(status));

/** `:authority` is what HTTP/1.1 has in `Host`. */
export function matchableOf(headers: IncomingHttpHeaders): Matchable {
    const { ":method": method = "", ":path": target = "", ":authority": host } = headers;
    const fields = Object.entries({ ...(host !== undefined && { host }), ...headers });
    return {
        method,
        target,
        headers: fields.flatMap(([name, value]) =>
            name.startsWith(":") || value === undefined ? [] : [[name, [value].flat().join(", ")] as const],
        ),
    };
}

/**
 * The fields of a head as they came: Node.js joins several of one name, except where there can only be one. The first
 * stays alone.
 */
export function fieldsOf({ headers, raw }: Pick<Head, "headers" | "raw">): OutgoingHttpHeaders {
    const lines = new Map<string, string[]>();
    for (let at = 0; at < raw.length; at += 2) lines.set(raw[at]!, [...(lines.get(raw[at]!) ?? []), raw[at + 1]!]);
    const fields: OutgoingHttpHeaders = { ...headers };
    for (const [name, values] of lines)
        if (values.length > 1 && String(headers[name]) !== values[0]) fields[name] = values;
    // Of the fields that are for one connection, this alone gets here, and Node.js does not send it.
    delete fields["http2-settings"];
    return fields;
}

/** As SETTINGS_MAX_HEADER_LIST_SIZE counts (RFC 9113, 6.5.2). */
export const sizeOf = (headers: OutgoingHttpHeaders): number =>
    Object.entries(headers).reduce((sum, [name, value]) => sum + name.length + String(value).length + 32, 0);

/** A message of gRPC as a header has it. https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md#responses */
export const percentEncoded = (message: string): string =>
    [...Buffer.from(message)]
        .map((byte) =>
            byte >= 0x20 && byte <= 0x7e && byte !== 0x25
                ? String.fromCharCode(byte)
                : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
        )
        .join("");
