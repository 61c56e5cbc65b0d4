import { createServer, type Server, STATUS_CODES } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { plainProblem, problemResponse } from "./problem";

/**
 * How long a connection is kept that nobody uses, in milliseconds: longer than what stands before a gateway keeps it (60 s in
 * NGINX and in the load balancers of AWS by default). If the server closed it first, it would close some on which the next
 * request is under way, and that request would be lost.
 */
const KEEP_ALIVE_MS = 75_000;

/** How long requests in flight may take to end once a stop was asked for, in milliseconds. */
const DRAIN_TIMEOUT_MS = 5_000;

export interface RunningServer {
    /** The port it listens on; the system's choice if it was started with port 0. */
    port: number;
    /**
     * Serves on for as long as it is told, since a cluster sends requests to a pod for a while after it told it to stop,
     * and closes each connection with the answer that it gives then. Then accepts no more connections, lets requests in
     * flight end (at most 5 s, then cuts them), closes connections that are kept alive, and resolves with the number of
     * connections that had to be cut.
     *
     * @param delayMs how long it serves on. @default 0
     */
    stop(delayMs?: number): Promise<number>;
}

/** Serves an application over HTTP on all addresses; resolves when it listens, rejects if it cannot. */
export async function startServer(application: Hono, port: number): Promise<RunningServer> {
    // A client that dawdles must not hold a connection for node's default of five minutes. That a host is missing is said
    // by the adapter, in a problem document; node would say nothing.
    const options = {
        headersTimeout: 5_000,
        requestTimeout: 10_000,
        keepAliveTimeout: KEEP_ALIVE_MS,
        requireHostHeader: false,
    };
    const server = createServer(options, getRequestListener(application.fetch, { errorHandler: refuseTarget }));
    server.on("clientError", refuse);
    await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, () => {
            server.off("error", reject);
            resolve();
        });
    });
    return { port: (server.address() as AddressInfo).port, stop: (delayMs) => stop(server, delayMs) };
}

/** What node could not read as a request, by its error's code; anything else is a bad one. */
const UNREADABLE: Record<string, { status: number; detail: string }> = {
    HPE_HEADER_OVERFLOW: { status: 431, detail: "The headers are longer than 16 KiB." },
    HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: "The extensions of a chunk are longer than 16 KiB." },
    ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: "The request took too long to arrive." },
};

/** The application answers its own errors: what comes here is a host or a target of which no URL can be made. */
const refuseTarget = () =>
    problemResponse(plainProblem(400, "Bad Request", "The request's host or target is missing or malformed."));

/** Answers what is no HTTP request with a problem document, too, and closes the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
    if (!socket.writable || error.code === "ECONNRESET") {
        socket.destroy();
        return;
    }
    const { status, detail } = UNREADABLE[error.code ?? ""] ?? { status: 400, detail: "This is not an HTTP request." };
    const title = STATUS_CODES[status]!;
    const body = JSON.stringify(plainProblem(status, title, detail));
    socket.end(
        `HTTP/1.1 ${status} ${title}\r\nContent-Type: application/problem+json\r\n` +
            `Content-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
    );
}

async function stop(server: Server, delayMs = 0): Promise<number> {
    if (delayMs > 0) {
        // A client that keeps its connection learns that it has to make another before this one is closed under it.
        server.prependListener("request", (_request, response) => (response.shouldKeepAlive = false));
        await sleep(delayMs);
    }
    return drain(server);
}

function drain(server: Server): Promise<number> {
    return new Promise((resolve) => {
        let cut = 0;
        // Connections become idle one by one, as their last response ends; a client that keeps one alive would
        // otherwise hold the process until the keep-alive time-out.
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
        server.closeIdleConnections();
    });
}
