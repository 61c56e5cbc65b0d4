import type { Body } from "./http-head";
import type { Wire } from "./wire";

/**
 * Passes a message's body on.
 *
 * @param to undefined to drop it
 * @returns whether the message has ended; false if all that follows on the connection belongs to it, or if it cannot be
 *     told where it ends
 * @throws Gone
 */
export async function relayBody(from: Wire, to: Wire | undefined, body: Body): Promise<boolean> {
    switch (body.kind) {
        case "rest":
            return false;
        case "length":
            for (let left = body.bytes; left > 0;) {
                if (!(await from.fill(to))) return false;
                const chunk = from.take(left);
                left -= chunk.length;
                await to?.write(chunk);
            }
            return true;
        case "chunked": {
            const chunks = new Chunks();
            while (!chunks.complete) {
                if (!(await from.fill(to))) return false;
                const length = chunks.scan(from.peek());
                if (length === 0) return false;
                for (let left = length; left > 0;) {
                    const chunk = from.take(left);
                    left -= chunk.length;
                    await to?.write(chunk);
                }
            }
            return true;
        }
    }
}

/** The most hexadecimal digits of a chunk's size that a number holds exactly. */
const maxDigits = 13;

type ChunkState =
    | "size"
    | "after size"
    | "extension"
    | "end of size"
    | "data"
    | "after data"
    | "end of data"
    | "trailer begins"
    | "trailer"
    | "end of trailers"
    | "complete";

/**
 * Finds the end of a chunked body (RFC 9112, 7.1), trailers included, in bytes as they come. It keeps none of them,
 * however long their lines are. A line may end with a single `\n`.
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
                continue;
            }
            const next = this.after(String.fromCharCode(bytes[at++]!));
            if (next === undefined) return 0;
            this.state = next;
        }
        return at;
    }

    /** @returns undefined if such a byte cannot be there */
    private after(byte: string): ChunkState | undefined {
        switch (this.state) {
            case "size":
                return /[\da-f]/i.test(byte) ? this.digit(byte) : this.digits > 0 ? this.afterSize(byte) : undefined;
            case "after size":
                return this.afterSize(byte);
            case "extension":
                return byte === "\n" || byte === "\r" ? this.afterSize(byte) : "extension";
            case "end of size":
                return byte === "\n" ? this.afterSize(byte) : undefined;
            case "after data":
                return byte === "\r" ? "end of data" : byte === "\n" ? "size" : undefined;
            case "end of data":
                return byte === "\n" ? "size" : undefined;
            case "trailer begins":
                return byte === "\r" ? "end of trailers" : byte === "\n" ? "complete" : "trailer";
            case "end of trailers":
                return byte === "\n" ? "complete" : "trailer";
            default:
                return byte === "\n" ? "trailer begins" : "trailer";
        }
    }

    private digit(byte: string): ChunkState | undefined {
        this.left = 16 * this.left + parseInt(byte, 16);
        return ++this.digits > maxDigits ? undefined : "size";
    }

    private afterSize(byte: string): ChunkState | undefined {
        if (byte === " " || byte === "\t") return "after size";
        if (byte === ";") return "extension";
        if (byte === "\r") return "end of size";
        if (byte !== "\n") return undefined;
        this.digits = 0;
        return this.left === 0 ? "trailer begins" : "data";
    }
}
