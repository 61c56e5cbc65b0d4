import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";

/** How long requests in flight may take to end once a stop was asked for, in milliseconds. */
const DRAIN_TIMEOUT_MS = 5_000;

export interface RunningServer {
    /** The port it listens on; the system's choice if it was started with port 0. */
    port: number;
    /**
     * Accepts no more connections, lets requests in flight end (at most 5 s, then cuts them), closes connections that
     * are kept alive, and resolves with the number of connections that had to be cut.
     */
    stop(): Promise<number>;
}

/** Serves an application over HTTP on all addresses; resolves when it listens, rejects if it cannot. */
export async function startServer(application: Hono, port: number): Promise<RunningServer> {
    const server = createAdaptorServer({
        fetch: application.fetch,
        // A client that dawdles must not hold a connection for node's default of five minutes.
        serverOptions: { headersTimeout: 5_000, requestTimeout: 10_000, keepAliveTimeout: 5_000 },
    }) as Server;
    await new Promise<void>((resolve, reject) => {
        server.once("error", reject);
        server.listen(port, () => {
            server.off("error", reject);
            resolve();
        });
    });
    return { port: (server.address() as AddressInfo).port, stop: () => drain(server) };
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
