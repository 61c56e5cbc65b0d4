import { pipeline, type Transform } from "node:stream";
import zlib from "node:zlib";
import type { IncomingMessage } from "node:http";
import { messageOf } from "../../cluster/client";
import { quoted } from "../../values/quoted";

/**
 * How much of an answer's body is read. A good answer may never end: Server-Sent Events, a long download.
 *
 * - `nothing`: the head says everything. A short rest is still read, as a server may log a connection that breaks off.
 * - `beginning`: what comes soon, to quote it.
 * - `whole`: the answer means nothing without its end.
 */
export type Reading = "nothing" | "beginning" | "whole";

/** The limit of a body in bytes, after it was decoded. */
const maxBodyBytes = 16 * 1_024 * 1_024;

const beginningBytes = 65_536;
const beginningMs = 500;

/** What is said of an answer whose whole body is wanted, and has not come in time. */
export const unended = (status: number, timeoutMs: number): string =>
    `status ${status}, but the body did not end within ${timeoutMs} ms`;

/** @throws Error if the whole body is wanted, and it breaks off or is too long */
export async function bodyOf(response: IncomingMessage, reading: Reading): Promise<string> {
    if (reading === "whole") {
        const { text, problem } = await take(response, maxBodyBytes);
        if (problem === undefined) return text;
        throw new Error(`status ${response.statusCode}, but the body ${problem}`);
    }
    const enough = setTimeout(() => response.destroy(), beginningMs);
    const beginning = take(response, beginningBytes).finally(() => clearTimeout(enough));
    return reading === "nothing" ? "" : (await beginning).text;
}

/** Never rejects. @returns what has come, and why there is no more of it */
async function take(response: IncomingMessage, most: number): Promise<{ text: string; problem?: string }> {
    const parts: Buffer[] = [];
    let length = 0;
    const taken = () => Buffer.concat(parts).toString("utf8", 0, most);
    try {
        for await (const part of decoded(response, response.headers["content-encoding"])) {
            parts.push(part);
            length += part.length;
            if (length > most) return { text: taken(), problem: `is longer than ${most / 1_048_576} MiB` };
        }
        return { text: taken() };
    } catch (error) {
        const problem = messageOf(error);
        return { text: taken(), problem: error instanceof CodingError ? problem : `broke off: ${problem}` };
    }
}

type Bytes = AsyncIterable<Buffer>;

/** Node.js 22.15 and later has it. */
const { createZstdDecompress } = zlib as typeof zlib & { createZstdDecompress?: () => Transform };

/** Some servers leave out the format of zlib (RFC 1950), whose first byte has the method 8: see RFC 9110, 8.4.1.2. */
const inflate = (first: Buffer) => ((first[0]! & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw());

/**
 * By the names of content codings (RFC 9110, 8.4), given the first bytes. A request without `Accept-Encoding` accepts
 * any of them (12.5.3), and caches and object stores send what they have.
 */
const decoders: Record<string, (first: Buffer) => Transform> = {
    gzip: () => zlib.createGunzip(),
    "x-gzip": () => zlib.createGunzip(),
    deflate: inflate,
    br: () => zlib.createBrotliDecompress(),
    ...(createZstdDecompress && { zstd: () => createZstdDecompress() }),
};

/** A body may be coded more than once. With each coding, fewer bytes can stand for more. */
const maxCodings = 3;

/** The content codings in the order in which they were applied. */
function codingsIn(header = ""): string[] {
    const all = header.split(",").map((one) => one.trim().toLowerCase());
    return all.filter((coding) => coding !== "" && coding !== "identity");
}

/** Completes "the body …". Undefined if it can be decoded. @param header `Content-Encoding` */
export function whyUndecoded(header: string | undefined): string | undefined {
    const codings = codingsIn(header);
    const isKnown = codings.length <= maxCodings && codings.every((coding) => Object.hasOwn(decoders, coding));
    return isKnown ? undefined : `has the content coding ${quoted(header!, 60)}, which is not decoded`;
}

/** The message completes "the body …". */
class CodingError extends Error {}

/** Decodes bytes as they come. @throws CodingError */
const decoded = (body: Bytes, header: string | undefined): Bytes =>
    codingsIn(header).reduceRight<Bytes>((bytes, coding) => decode(bytes, coding), body);

async function* decode(body: Bytes, coding: string): Bytes {
    const coded = body[Symbol.asyncIterator]();
    const first = await coded.next();
    if (first.done) return;
    let hasBrokenOff = false;
    const all = async function* () {
        yield first.value;
        try {
            yield* { [Symbol.asyncIterator]: () => coded };
        } catch (error) {
            hasBrokenOff = true;
            throw error;
        }
    };
    try {
        yield* pipeline(all, decoders[coding]!(first.value), () => undefined);
    } catch (error) {
        if (hasBrokenOff) throw error;
        throw new CodingError(`cannot be decoded as ${coding}: ${(error as Error).message}`);
    } finally {
        await coded.return?.();
    }
}
