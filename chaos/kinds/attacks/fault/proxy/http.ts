import { STATUS_CODES } from "node:http";
import { type Connection, drawOpaque, drawRequest, serveOpaque, together } from "./connection";
import { relayBody } from "./http-body";
import { greetsInHttp2 } from "./http2-beginning";
import { closing, HeadEnd, mayBeResponse, type RequestHead, requestHead, RequestScan, responseHead } from "./http-head";
import type { AbortAnswer } from "./protocol";
import { Gone, pump, readAheadBytes } from "./wire";

export interface Request extends RequestHead {
    bytes: Buffer;
}

/** A server would not wait for the rest of such a request, or would not read it. */
export class Refused extends Error {
    constructor(readonly status: 408 | 431) {
        super(`refused with status ${status}`);
    }
}

/** If a first line may be of another protocol, its rest may take this long, in milliseconds. */
const doubtfulMs = 500;

/**
 * Waits for the head of the next request.
 *
 * @returns undefined if there is none: something else has come, the pod has spoken or closed its connection, the caller
 *     sends no more, or the connection is to be closed while it idles
 * @throws Refused if the head of a request is too long, or takes too long
 * @throws Gone
 */
export async function nextRequest(connection: Connection): Promise<Request | undefined> {
    connection.idle = true;
    try {
        return await awaitRequest(connection);
    } finally {
        connection.idle = false;
    }
}

async function awaitRequest(connection: Connection): Promise<Request | undefined> {
    const { caller, changes, shared } = connection;
    const scan = new RequestScan();
    let begunAt: number | undefined;
    for (;;) {
        const bytes = caller.peek();
        const found = scan.look(bytes);
        if (found === "other") return undefined;
        if (found !== "more") {
            const head = requestHead(bytes.subarray(0, found));
            return head && { ...head, bytes: caller.take(found) };
        }
        if (bytes.length >= shared.limits.headBytes) {
            if (scan.doubtful) return undefined;
            throw new Refused(431);
        }
        const over = () =>
            caller.ended ||
            (connection.podStirs && !connection.spared && !greetsInHttp2(connection.pod)) ||
            (shared.closesIdle && caller.available === 0);
        if (over()) return undefined;
        const moves = () => caller.available > bytes.length || caller.closed || over();
        if (bytes.length === 0) await changes.until(moves);
        else {
            begunAt ??= connection.movedAt = performance.now();
            const headMs = scan.doubtful ? Math.min(doubtfulMs, shared.limits.headMs) : shared.limits.headMs;
            if (!(await changes.untilWithin(begunAt + headMs - performance.now(), moves))) {
                if (scan.certain) throw new Refused(408);
                return undefined;
            }
        }
        if (caller.closed) throw new Gone();
    }
}

/** Serves a connection of HTTP/1.x, request by request: a pipelined one waits until its predecessor is answered. */
export async function serveHttp(connection: Connection, first: Request): Promise<void> {
    const { caller, shared } = connection;
    for (let next: Request | undefined = first; next; next = await nextRequest(connection)) {
        const after = await serveRequest(connection, next);
        if (after === "close") return connection.close();
        if (after === "ended") return connection.flush();
    }
    if (shared.closesIdle && caller.available === 0 && !caller.ended) return connection.close();
    if (caller.available > 0 && !connection.podStirs) return serveOpaque(connection);
    await connection.tunnel();
}

/** What becomes of the connection after a request. `ended`: all that it has to pass on was passed on. */
type After = "next" | "close" | "ended";

async function serveRequest(connection: Connection, request: Request): Promise<After> {
    connection.hold(request.bytes.length);
    try {
        return await serve(connection, request);
    } finally {
        connection.hold(-request.bytes.length);
    }
}

async function serve(connection: Connection, request: Request): Promise<After> {
    const hit = drawRequest(connection, request, false);
    if (hit?.begins()) {
        const answer = await connection.inflict(hit.fault, false);
        // HTTP/1.x has no status of gRPC, and is not hit by one.
        if (answer !== undefined) return refuse(connection, request, answer as AbortAnswer);
    }
    if (hit || connection.spared) await connection.reachAgain();
    connection.spared = false;
    connection.limit(hit);
    const after = await exchange(connection, request);
    connection.limit();
    return after;
}

/** What an abort answers with, unless it says more than a status. */
export const standardBody = (run: string) => `The chaos experiment's run ${run} answers with this status.\n`;

async function refuse(connection: Connection, request: Request, answer: AbortAnswer): Promise<After> {
    const { caller, shared } = connection;
    const { status, headers = {}, body = standardBody(shared.run) } = answer;
    const own = Object.entries(headers);
    const hasType = own.some(([name]) => name.toLowerCase() === "content-type");
    // Such a caller may or may not send its body after this answer, so where its next request begins is not known.
    const keeps = request.keepsConnection && !request.expectsContinue;
    const lines = [
        `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`,
        ...(hasType ? [] : ["Content-Type: text/plain; charset=utf-8"]),
        ...own.map(([name, value]) => `${name}: ${value}`),
        `Content-Length: ${Buffer.byteLength(body)}`,
        ...(keeps ? (request.minor === 0 ? ["Connection: keep-alive"] : []) : ["Connection: close"]),
    ];
    await caller.write(`${lines.join("\r\n")}\r\n\r\n${request.method === "HEAD" ? "" : body}`);
    connection.spared = true;
    connection.idle = true;
    return keeps && (await relayBody(caller, undefined, request.body)) ? "next" : "close";
}

async function exchange(connection: Connection, request: Request): Promise<After> {
    const { caller, pod, changes } = connection;
    /** Whether the rest of the connection belongs to this request or its answer. */
    let raw = false;
    let sent = false;
    let answered = false;
    let closes = false;

    const send = async () => {
        sent = await relayBody(caller, pod, request.body);
        raw ||= !sent;
        changes.notify();
        await changes.until(() => raw || answered || caller.exhausted || caller.closed || pod.closed);
        if (raw) await pump(caller, pod);
        // The pod must know that its caller waits no longer.
        else if (!answered) pod.end();
    };
    const answer = async () => {
        const result = await relayAnswer(connection, request.method);
        answered = true;
        closes = result === "close";
        raw ||= result === "ended";
        changes.notify();
        await changes.until(() => sent || raw || connection.podStirs || caller.closed);
        raw ||= !sent;
        changes.notify();
        if (raw) await pump(pod, caller);
    };

    await pod.write(request.bytes);
    await together([send(), answer()]);
    if (raw) return "ended";
    return closes ? "close" : "next";
}

/** Passes an answer on, after those that only inform. `ended`: the rest of the connection belongs to it. */
async function relayAnswer(connection: Connection, method: string): Promise<After> {
    const { caller, pod, shared } = connection;
    for (;;) {
        const end = await awaitAnswer(connection);
        if (end === undefined) return "ended";
        const bytes = pod.peek().subarray(0, end);
        const response = responseHead(bytes, method);
        if (!response) return "ended";
        const { status, body, becomesHttp2 } = response;
        pod.take(end);
        if (becomesHttp2 && shared.faults.needsHttp) drawOpaque(connection);
        const informs = status < 200 && status !== 101;
        const closes = shared.faults.over && !informs && body.kind !== "rest";
        await caller.write(closes ? closing(bytes) : bytes);
        if (informs) continue;
        if (!(await relayBody(pod, caller, body))) return "ended";
        return closes ? "close" : "next";
    }
}

/** Answers a request that takes too long or is too long, as a server does. @throws Gone */
export async function refuseAsServer(connection: Connection, { status }: Refused): Promise<void> {
    const { caller } = connection;
    connection.idle = true;
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    // Whether the caller reads the answer is not waited for.
    if (!caller.closed) caller.socket.write(head);
    await connection.close();
}

/** Waits for the head of an answer. @returns where the head ends. Undefined if there is no answer @throws Gone */
async function awaitAnswer({ caller, pod, changes }: Connection): Promise<number | undefined> {
    const head = new HeadEnd();
    for (;;) {
        const bytes = pod.peek();
        const end = head.find(bytes);
        if (end !== undefined || bytes.length >= readAheadBytes || !mayBeResponse(bytes)) return end;
        await changes.until(() => pod.available > bytes.length || pod.ended || pod.closed || caller.closed);
        if (caller.closed) throw new Gone();
        if (pod.available === bytes.length) return undefined;
    }
}
