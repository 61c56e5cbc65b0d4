/**
 * Content codings (RFC 9110, 8.4). Without `Accept-Encoding` any of them is acceptable to the client by 12.5.3, and
 * caches and object stores send what they have.
 */
import { pipeline, type Transform } from "node:stream";
import zlib from "node:zlib";
import { quoted } from "../../values/quoted";

type Bytes = AsyncIterable<Buffer>;

/** Node.js 22.15 and later has it. */
const { createZstdDecompress } = zlib as typeof zlib & { createZstdDecompress?: () => Transform };

/** RFC 9110, 8.4.1.2: some servers leave out the format of zlib (RFC 1950), whose first byte has the method 8. */
const inflate = (first: Buffer) => ((first[0]! & 0x0f) === 8 ? zlib.createInflate() : zlib.createInflateRaw());

/** By the names of codings, given the first bytes. */
const decoders: Record<string, (first: Buffer) => Transform> = {
    gzip: () => zlib.createGunzip(),
    "x-gzip": () => zlib.createGunzip(),
    deflate: inflate,
    br: () => zlib.createBrotliDecompress(),
    ...(createZstdDecompress && { zstd: () => createZstdDecompress() }),
};

/** A body may be coded more than once. Each coding more lets fewer bytes stand for more. */
const maxCodings = 3;

/** The codings of a body, in the order in which they were applied. @param header `Content-Encoding` */
function codingsIn(header = ""): string[] {
    const all = header.split(",").map((one) => one.trim().toLowerCase());
    return all.filter((coding) => coding !== "" && coding !== "identity");
}

/** Why a body cannot be decoded: completes "the body …". Undefined if it can. @param header `Content-Encoding` */
export function whyUndecoded(header: string | undefined): string | undefined {
    const codings = codingsIn(header);
    const isKnown = codings.length <= maxCodings && codings.every((coding) => Object.hasOwn(decoders, coding));
    return isKnown ? undefined : `has the content coding ${quoted(header!, 60)}, which is not decoded`;
}

/** A body cannot be decoded. The message completes "the body …". */
export class CodingError extends Error {}

/** The bytes that a body stands for, as they come. They may be many more. @throws CodingError */
export const decoded = (body: Bytes, header: string | undefined): Bytes =>
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
