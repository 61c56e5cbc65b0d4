import type { Body } from "./http-head";
import type { Wire } from "./wire";

/**
 * Passes a message's body on.
 *
 * @param to undefined to drop it
 * @returns whether the message has ended; false if the rest of the connection belongs to it, or if its end cannot be
 *     known
 * @throws Gone
 */
export async function relayBody(from: Wire, to: Wire | undefined, body: Body): Promise<boolean> {
    if (body.kind === "rest") return false;
    if (body.kind === "length") return relayBytes(from, to, body.bytes);
    const chunks = new Chunks();
    while (!chunks.complete) {
        if (!(await from.fill(to))) return false;
        const length = chunks.scan(from.peek());
        if (length === 0) return false;
        await relayBytes(from, to, length);
    }
    return true;
}

/** @returns whether all of them have come */
async function relayBytes(from: Wire, to: Wire | undefined, count: number): Promise<boolean> {
    for (let left = count; left > 0;) {
        if (!(await from.fill(to))) return false;
        const chunk = from.take(left);
        left -= chunk.length;
        await to?.write(chunk);
    }
    return true;
}

/** A number holds the size of a chunk exactly up to this many hexadecimal digits. */
const maxDigits = 13;

const afterSize = {
    " ": "after size",
    "\t": "after size",
    ";": "extension",
    "\r": "end of size",
    "\n": "data",
} as const;

/** The state after a byte, where `other` stands for all bytes that are not named. No other byte can be there. */
const states = {
    size: afterSize,
    "after size": afterSize,
    extension: { "\r": "end of size", "\n": "data", other: "extension" },
    "end of size": { "\n": "data" },
    "after data": { "\r": "end of data", "\n": "size" },
    "end of data": { "\n": "size" },
    "trailer begins": { "\r": "end of trailers", "\n": "complete", other: "trailer" },
    trailer: { "\n": "trailer begins", other: "trailer" },
    "end of trailers": { "\n": "complete", other: "trailer" },
    data: {},
    complete: {},
} as const;
type ChunkState = keyof typeof states;

/**
 * Finds the end of a chunked body (RFC 9112, 7.1) with its trailers in bytes as they come, of which it keeps none. A
 * line may end with a single `\n`.
 */
export class Chunks {
    private state: ChunkState = "size";
    private digits = 0;
    private left = 0;

    get complete(): boolean {
        return this.state === "complete";
    }

    /** How many of some bytes belong to the body: fewer than all if it ends there, 0 if they are no chunked body. */
    scan(bytes: Buffer): number {
        let at = 0;
        while (at < bytes.length && !this.complete) {
            if (this.state === "data") {
                const length = Math.min(this.left, bytes.length - at);
                at += length;
                this.left -= length;
                if (this.left === 0) this.state = "after data";
            } else if (!this.take(String.fromCharCode(bytes[at++]!))) return 0;
        }
        return at;
    }

    /** @returns false if such a byte cannot be there */
    private take(byte: string): boolean {
        if (this.state === "size" && /[\da-f]/i.test(byte)) {
            this.left = 16 * this.left + parseInt(byte, 16);
            return ++this.digits <= maxDigits;
        }
        if (this.state === "size" && this.digits === 0) return false;
        const next: Partial<Record<string, ChunkState>> = states[this.state];
        const state = next[byte] ?? next.other;
        if (state === undefined) return false;
        if (state === "data") this.digits = 0;
        this.state = state === "data" && this.left === 0 ? "trailer begins" : state;
        return true;
    }
}
