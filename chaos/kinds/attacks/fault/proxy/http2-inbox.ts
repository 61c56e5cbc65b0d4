import type { Http2Stream, IncomingHttpHeaders, OutgoingHttpHeaders } from "node:http2";
import { Bytes } from "./bytes";
import type { Connection } from "./connection";
import { fieldsOf } from "./http2-heads";
import { readAheadBytes } from "./wire";

/**
 * What comes of a request, or of an answer. It is read as it comes, up to `readAheadBytes`: Node.js drops what nobody
 * has read when the connection closes, and servers close theirs right after their last answer.
 */
export class Inbox {
    /** Whether all has come. */
    ended = false;
    /** Whether nothing more comes. If it has not ended, it was reset. */
    over = false;
    trailers: OutgoingHttpHeaders = {};
    private readonly held = new Bytes();
    /** Whether the other end has said that this is all. */
    private isWhole: boolean;
    private isDropped = false;

    constructor(
        readonly stream: Http2Stream,
        private readonly connection: Connection,
    ) {
        const { changes } = connection;
        const end = () => {
            this.over = true;
            changes.notify();
        };
        this.isWhole = stream.state.remoteClose === 1;
        // Node.js takes a reset with NO_ERROR for an end, but has closed the stream before.
        const push = stream.push.bind(stream);
        stream.push = (chunk, encoding) => {
            if (chunk === null) this.isWhole ||= !stream.closed;
            // Without this, it would wait until somebody has read all.
            if (chunk === null && !this.isWhole && !stream.destroyed) this.drop();
            return push(chunk, encoding);
        };
        stream
            .on("data", this.receive)
            .on("end", () => {
                this.ended = this.isWhole && stream.rstCode === 0;
                end();
            })
            .on("close", end)
            .on("trailers", (headers: IncomingHttpHeaders, _: number, raw: string[] = []) => {
                this.trailers = fieldsOf({ headers, raw });
            })
            // Its close has the code.
            .on("error", () => {});
    }

    private readonly receive = (chunk: Buffer): void => {
        if (this.isDropped) return;
        this.held.add(chunk);
        this.connection.hold(chunk.length);
        if (this.available >= readAheadBytes) this.stream.pause();
        this.connection.changes.notify();
    };

    get available(): number {
        return this.held.length;
    }

    take(): Buffer {
        const chunk = this.held.take();
        this.connection.hold(-chunk.length);
        if (this.available < readAheadBytes) this.stream.resume();
        return chunk;
    }

    /** Nobody needs what has come, and what comes. */
    drop(): void {
        this.isDropped = true;
        this.connection.hold(-this.available);
        this.held.clear();
        this.stream.resume();
    }
}
