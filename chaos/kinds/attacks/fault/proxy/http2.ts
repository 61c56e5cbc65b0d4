/**
 * HTTP/2 in clear text with prior knowledge, and with it gRPC: a request is a stream, and is hit by itself. Node.js's
 * own server faces the caller, and its client the pod. Each connection of a caller has one to a pod.
 *
 * Passed on, stream by stream: heads with all fields, bodies as fast as the other end takes them, trailers, heads that
 * only inform, resets with their codes, and the number of streams at a time that the pod allows. A GOAWAY ends the
 * connection on the other side, too. Not passed on: pings, which each side answers itself, priorities, and what a
 * server pushes, which the pod is told not to do.
 */
import {
    type ClientHttp2Session,
    connect,
    constants,
    createServer,
    type IncomingHttpHeaders,
    type ServerHttp2Session,
    type ServerHttp2Stream,
    type Settings,
} from "node:http2";
import type { Socket } from "node:net";
import { type Connection, lingerMs } from "./connection";
import { log } from "./counts";
import { sizeOf } from "./http2-heads";
import { isUsable, type Link, serveRequest } from "./http2-request";
import { limits } from "./protocol";
import { Gone } from "./wire";

/**
 * What a connection of HTTP/2, and each open request without its head, counts among the bytes that a proxy holds. They
 * take 67 and 6 KiB: with as many as there may be, the process has 105 MiB.
 */
const weights = { connection: 65_536, stream: 8_192 };

/** Node.js's own limits are for servers: what a pod and its callers agree on is not limited by the proxy. */
const options = {
    /** In megabytes. `weights` keep it below that. */
    maxSessionMemory: 64,
    maxHeaderListPairs: 2_000,
    /** Callers whose calls are delayed may cancel many at once. Node.js 20 does not know these. */
    ...{ streamResetBurst: 100_000, streamResetRate: 100_000 },
};

/** Serves a connection of HTTP/2, whose first bytes have come. @throws Gone */
export async function serveHttp2(connection: Connection): Promise<void> {
    const { caller, pod, changes, shared } = connection;
    connection.isHttp2 = true;
    connection.hold(weights.connection);
    let isBroken = false;
    // Before Node.js cancels the streams.
    pod.socket.once("close", (failed) => {
        link.lost = true;
        isBroken = failed;
    });
    const link = linkOver(connection, pod.release());
    const { upstream } = link;
    const session = acceptFrom(connection, await settingsOf(upstream, connection));
    session.on("error", () => {});
    upstream.once("goaway", () => session.close());
    if (upstream.closed) session.close();
    let open = 0;
    session.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, flags: number, raw: string[]) => {
        // What idled for long does not make it the heaviest.
        if (open++ === 0) connection.movedAt = performance.now();
        connection.idle = false;
        const weight = weights.stream + sizeOf(headers);
        connection.hold(weight);
        stream.once("close", () => {
            connection.hold(-weight);
            connection.idle = --open === 0;
            changes.notify();
        });
        const ends = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0;
        serveRequest(link, stream, { headers, raw, ends }).catch((error: unknown) => {
            log(error);
            stream.close(constants.NGHTTP2_INTERNAL_ERROR);
        });
    });
    connection.idle = true;
    await changes.until(() => caller.closed || shared.closesIdle || link.lost);
    if (link.lost) await changes.until(() => link.sent === 0 || caller.closed);
    if (link.broken > 0) {
        // Others of the pod's answers have come whole.
        await changes.untilWithin(lingerMs, () => open <= link.broken || caller.closed);
        if (isBroken) return connection.reset();
        caller.socket.end();
        return void (await changes.untilWithin(lingerMs, () => caller.closed));
    }
    session.close();
    await changes.until(() => caller.closed);
    upstream.close();
    await changes.untilWithin(lingerMs, () => pod.closed);
}

function linkOver(connection: Connection, socket: Socket): Link {
    const upstream = connect("http://pod", {
        ...options,
        settings: { enablePush: false, maxHeaderListSize: limits.headBytes },
        createConnection: () => socket,
    });
    upstream.on("error", () => {});
    let latest: Promise<Link | undefined> | undefined;
    const another = async () => {
        const made = await latest;
        if (made === undefined || !isUsable(made)) latest = anotherOf(connection);
        return latest;
    };
    return { connection, upstream, lost: false, sent: 0, broken: 0, another };
}

async function anotherOf(connection: Connection): Promise<Link | undefined> {
    const socket = await connection.another();
    if (socket === undefined) return undefined;
    connection.hold(weights.connection);
    socket.once("close", () => connection.hold(-weights.connection));
    const link = linkOver(connection, socket);
    connection.caller.socket.once("close", () => link.upstream.close());
    return link;
}

/** What a pod allows. @throws Gone if it does not speak HTTP/2 */
async function settingsOf(upstream: ClientHttp2Session, { caller, pod, changes }: Connection): Promise<Settings> {
    let settings: Settings | undefined;
    upstream.once("remoteSettings", (theirs: Settings) => {
        settings = theirs;
        changes.notify();
    });
    await changes.until(() => settings !== undefined || pod.closed || caller.closed);
    if (settings === undefined) throw new Gone();
    return settings;
}

/** `performServerHandshake` would do, but Node.js has that from 20.12 on. */
function acceptFrom({ caller }: Connection, { maxConcurrentStreams, enableConnectProtocol }: Settings) {
    const settings = { maxHeaderListSize: limits.headBytes, maxConcurrentStreams, enableConnectProtocol };
    let session: ServerHttp2Session | undefined;
    createServer({ ...options, settings })
        .once("session", (made: ServerHttp2Session) => (session = made))
        .emit("connection", caller.release());
    return session!;
}
