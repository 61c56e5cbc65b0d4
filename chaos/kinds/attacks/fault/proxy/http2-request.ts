import {
    type ClientHttp2Session,
    type ClientHttp2Stream,
    constants,
    type Http2Stream,
    type IncomingHttpHeaders,
    type ServerHttp2Stream,
    type ServerStreamResponseOptions,
} from "node:http2";
import { type Answer, type Connection, drawRequest } from "./connection";
import { standardBody } from "./http";
import { fieldsOf, hasNoBody, type Head, isGrpc, matchableOf, percentEncoded, sizeOf } from "./http2-heads";
import { Inbox } from "./http2-inbox";
import type { Meter } from "./meter";
import { grpcStatusOf, type ProxyFault } from "./protocol";
import { beforeCutMs } from "./wire";

const {
    NGHTTP2_CANCEL: cancel,
    NGHTTP2_INTERNAL_ERROR: internalError,
    NGHTTP2_REFUSED_STREAM: refusedStream,
} = constants;

/** A caller's connection to a pod. */
export interface Link {
    readonly connection: Connection;
    readonly upstream: ClientHttp2Session;
    /** Whether the pod's connection has closed. */
    lost: boolean;
    /** Requests that the pod has, and has not answered whole. */
    sent: number;
    /** Of these, how many were lost with the pod's connection. */
    broken: number;
    /** Another one to the same pod. Undefined if the pod accepts none. */
    another: () => Promise<Link | undefined>;
}

/** Serves a request of HTTP/2: hits it, or passes it on. */
export async function serveRequest(first: Link, stream: ServerHttp2Stream, head: Head): Promise<void> {
    const { connection } = first;
    const { headers } = head;
    const inbox = new Inbox(stream, connection);
    stream.once("aborted", () => inbox.drop()).once("close", () => inbox.drop());
    const hit = drawRequest(connection, matchableOf(headers), isGrpc(headers));
    if (hit?.begins()) {
        const answer = await inflict(connection, inbox, stream, hit.fault);
        if (answer !== undefined && !stream.closed) {
            inbox.drop();
            return refuse(stream, headers, answer, connection.shared.run);
        }
    }
    const isUpstream = hit?.fault.stream === "upstream";
    const request = new Passing(connection, stream, isUpstream ? hit.meter : undefined);
    if (!(await request.passes(stream, sizeOf(headers))) || stream.closed) return;
    // A pod may close a connection that has idled while all its requests were held.
    const link = isUsable(first) ? first : hit && (await first.another());
    // Callers may repeat what was refused: it has reached nobody.
    if (link === undefined || !isUsable(link)) return stream.close(refusedStream);
    if (stream.closed) return;
    const sent = link.upstream.request(fieldsOf(head), { endStream: head.ends, waitForTrailers: !head.ends });
    const answer = new Passing(connection, stream, isUpstream ? undefined : hit?.meter, sent);
    request.sent = sent;
    stream.once("close", () => {
        // With NO_ERROR, too: so do Envoy and Node.js cancel.
        if (stream.rstCode !== 0 || stream.aborted || !inbox.ended) sent.close(stream.rstCode || cancel);
    });
    await Promise.all([!head.ends && request.relay(inbox, sent), answerFrom(link, sent, head, answer)]);
}

/** Whether the pod takes requests on it. */
export const isUsable = ({ upstream }: Link) => !upstream.closed && !upstream.destroyed;

/** Passes the answer to a request on, or that there is none. */
async function answerFrom(link: Link, sent: ClientHttp2Stream, asked: Head, answer: Passing): Promise<void> {
    const { connection } = link;
    const { stream } = answer;
    const inbox = new Inbox(sent, connection);
    let head: Head | undefined;
    link.sent++;
    sent.on("headers", (headers, _, raw: string[] = []) => {
        if (!stream.headersSent && !stream.closed) stream.additionalHeaders(fieldsOf({ headers, raw }));
    });
    sent.once("response", (headers, flags, raw: string[] = []) => {
        head = { headers, raw, ends: (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0 };
        connection.changes.notify();
    });
    stream.once("close", () => inbox.drop());
    sent.once("close", () => {
        link.sent--;
        const isWhole = inbox.ended && head !== undefined;
        if (!isWhole && link.lost && !stream.closed) link.broken++;
        else if (!isWhole) stream.close(sent.rstCode || internalError);
        connection.changes.notify();
    });
    await connection.changes.until(() => head !== undefined || inbox.over || stream.closed);
    if (head === undefined || stream.closed) return;
    if (!(await answer.passes(stream, sizeOf(head.headers))) || stream.closed) return;
    const ends = head.ends || hasNoBody(asked.headers, head.headers);
    // The types do not know that Node.js would add a date.
    const options = { endStream: ends, waitForTrailers: !ends, sendDate: false } as ServerStreamResponseOptions;
    stream.respond(fieldsOf(head), options);
    if (!ends) await answer.relay(inbox, stream);
}

/** @returns what to answer with; undefined to pass on, or if the stream is closed */
async function inflict(
    { changes, shared: { faults } }: Connection,
    inbox: Inbox,
    stream: ServerHttp2Stream,
    { delayMs, abort }: ProxyFault,
): Promise<Answer | undefined> {
    if (delayMs) await changes.untilWithin(delayMs, () => faults.over || stream.closed);
    if (faults.over || stream.closed || abort === undefined) return undefined;
    if (abort === "hang") {
        inbox.drop();
        await changes.until(() => faults.over || stream.closed);
    }
    if (abort !== "hang" && abort !== "reset") return typeof abort === "number" ? { status: abort } : abort;
    stream.close(internalError);
    return undefined;
}

function refuse(stream: ServerHttp2Stream, asked: IncomingHttpHeaders, answer: Answer, run: string): void {
    if ("grpc" in answer) {
        const fields = {
            "content-type": asked["content-type"],
            "grpc-status": grpcStatusOf(answer)!.code,
            "grpc-message": percentEncoded(answer.message ?? standardBody(run).trim()),
        };
        // The head has the trailers.
        return stream.respond({ ":status": 200, ...fields }, { endStream: true });
    }
    const { status, headers = {}, body = standardBody(run) } = answer;
    const own = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value] as const);
    stream.respond({
        ":status": status,
        "content-type": "text/plain; charset=utf-8",
        ...Object.fromEntries(own),
        "content-length": Buffer.byteLength(body),
    });
    stream.end(asked[":method"] === "HEAD" ? undefined : body);
}

/** One direction of a request. */
class Passing {
    /** @param meter of its bytes. Undefined if they go as fast as they are taken */
    constructor(
        private readonly connection: Connection,
        readonly stream: ServerHttp2Stream,
        private readonly meter: Meter | undefined,
        public sent?: ClientHttp2Stream,
    ) {}

    /** Passes a body on, and then its trailers. */
    async relay(inbox: Inbox, to: Http2Stream): Promise<void> {
        const { changes } = this.connection;
        to.once("wantTrailers", () => to.sendTrailers(inbox.trailers));
        for (;;) {
            await changes.until(() => inbox.available > 0 || inbox.over || to.closed);
            // If the other end needs no more, the rest is dropped.
            if (to.closed) return inbox.drop();
            if (inbox.available === 0) break;
            if (!(await this.write(to, inbox.take()))) return;
        }
        if (inbox.ended && (await this.passes(to, sizeOf(inbox.trailers)))) to.end();
    }

    private async write(to: Http2Stream, chunk: Buffer): Promise<boolean> {
        this.connection.hold(chunk.length);
        try {
            for (let left = chunk; left.length > 0 && !to.closed;) {
                const bytes = await this.allowed(to, left.length);
                if (bytes === 0) return false;
                const part = left.subarray(0, bytes);
                await new Promise<void>((resolve) => void to.write(part, () => resolve()));
                left = left.subarray(bytes);
            }
            return true;
        } finally {
            this.connection.hold(-chunk.length);
        }
    }

    /** Waits until so many bytes of a head or of trailers may pass. @returns false if the request was cut instead */
    async passes(to: Http2Stream, count: number): Promise<boolean> {
        if (this.meter === undefined) return true;
        for (let left = count; left > 0 && !to.closed;) {
            const bytes = await this.allowed(to, left);
            if (bytes === 0) return false;
            left -= bytes;
        }
        return true;
    }

    /** Waits until some bytes may pass. @returns how many. 0 if the request was cut instead */
    private async allowed(to: Http2Stream, count: number): Promise<number> {
        const { meter, connection } = this;
        if (meter === undefined) return count;
        const { bytes, afterMs } = meter.next(count, performance.now());
        if (afterMs > 0) await connection.changes.untilWithin(afterMs, () => to.closed || !meter.acts);
        if (bytes === 0) await this.cut();
        return bytes;
    }

    /** Resets the request, once the bytes before were sent. */
    private async cut(): Promise<void> {
        await this.connection.changes.untilWithin(beforeCutMs, () => this.stream.closed);
        this.sent?.close(cancel);
        this.stream.close(internalError);
    }
}
