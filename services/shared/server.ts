import { once } from "node:events";
import { createServer, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { plainProblem, problemResponse } from "./problem";

/**
 * How long an idle connection is kept, in milliseconds: longer than proxies keep it (60 s by default in NGINX and AWS
 * load balancers). If the server closed connections first, it would lose requests that are already under way.
 */
const KEEP_ALIVE_MS = 75_000;

/** How long requests in flight may take to finish during a stop, in milliseconds. */
const DRAIN_TIMEOUT_MS = 5_000;

/**
 * Serves an application over HTTP on all addresses. Resolves when it listens.
 *
 * @returns the port, which the system chooses for port 0, and what stops the server
 */
export async function startServer(application: Hono, port: number) {
    // A slow client must not hold a connection for Node's default of five minutes. The adapter rejects a missing host
    // with a problem document; Node's response would be empty.
    const options = {
        headersTimeout: 5_000,
        requestTimeout: 10_000,
        keepAliveTimeout: KEEP_ALIVE_MS,
        requireHostHeader: false,
    };
    const listener = getRequestListener((request, env) => application.fetch(request, env), {
        errorHandler: refuseTarget,
    });
    const server = createServer(options, (incoming, outgoing) => void listener(incoming, outgoing));
    server.on("clientError", refuse);
    await once(server.listen(port), "listening");
    return { port: (server.address() as AddressInfo).port, stop: (delayMs?: number) => stop(server, delayMs) };
}

/** Responses to unreadable requests, by the code of Node's error. Other codes get a 400. */
const UNREADABLE: Record<string, { status: number; detail: string }> = {
    HPE_HEADER_OVERFLOW: { status: 431, detail: "The headers are longer than 16 KiB." },
    HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: "The extensions of a chunk are longer than 16 KiB." },
    ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request took too long to arrive." },
};

/** The application handles its own errors; this is for a host or target that makes no URL. */
const refuseTarget = () => problemResponse(plainProblem(400, "The request's host or target is missing or malformed."));

/** Answers what is not HTTP with a problem document and closes the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable || error.code === "ECONNRESET") {
        socket.destroy();
        return;
    }
    const { status, detail } = UNREADABLE[error.code ?? ""] ?? { status: 400, detail: "This is not an HTTP request." };
    const body = JSON.stringify(plainProblem(status, detail));
    socket.end(
        `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nContent-Type: application/problem+json\r\n` +
            `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
}

/**
 * Stops a server. During the delay it keeps serving, because a cluster sends requests to a terminating pod for a while,
 * and closes each connection after its response. Then it accepts no connections, lets requests in flight finish for at
 * most 5 s, and closes idle connections.
 *
 * @returns the number of connections that it had to cut
 */
async function stop(server: Server, delayMs = 0): Promise<number> {
    if (delayMs > 0) {
        // Tells clients to open a new connection before this one is closed.
        server.prependListener("request", (_request, response) => (response.shouldKeepAlive = false));
        await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
    return drain(server);
}

function drain(server: Server): Promise<number> {
    return new Promise((resolve) => {
        let cut = 0;
        // Connections become idle one by one. A client that keeps one alive would hold the process until the
        // keep-alive timeout.
        const sweep = setInterval(() => server.closeIdleConnections(), 20);
        const deadline = setTimeout(() => {
            server.getConnections((_error, open) => {
                cut = open ?? 0;
                server.closeAllConnections();
            });
        }, DRAIN_TIMEOUT_MS);
        server.close(() => {
            clearInterval(sweep);
            clearTimeout(deadline);
            resolve(cut);
        });
    });
}
