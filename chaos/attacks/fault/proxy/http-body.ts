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

/** More of a line of a chunked body than this has a meaning for nobody. */
const maxLine = 65_536;

/** Finds the end of a chunked body (RFC 9112, 7.1), trailers included, in bytes as they come. */
export class Chunks {
    private state: "size" | "data" | "after data" | "trailers" | "complete" = "size";
    private line = "";
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
            const newline = bytes.indexOf(10, at);
            const end = newline === -1 ? bytes.length : newline;
            this.line += bytes.toString("latin1", at, end);
            at = end;
            if (this.line.length > maxLine) return 0;
            if (newline === -1) break;
            at++;
            if (!this.endLine()) return 0;
        }
        return at;
    }

    /** @returns false if such a line cannot be there */
    private endLine(): boolean {
        const line = this.line.endsWith("\r") ? this.line.slice(0, -1) : this.line;
        this.line = "";
        if (this.state === "trailers") {
            if (line === "") this.state = "complete";
            return true;
        }
        if (this.state === "after data") {
            this.state = "size";
            return line === "";
        }
        const [, size] = /^([\da-f]{1,13})[ \t]*(?:;.*)?$/i.exec(line) ?? [];
        if (size === undefined) return false;
        this.left = parseInt(size, 16);
        this.state = this.left === 0 ? "trailers" : "data";
        return true;
    }
}
