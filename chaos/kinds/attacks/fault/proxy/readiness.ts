import { createServer } from "node:http";
import type { Socket } from "node:net";
import { log } from "./counts";
import { readyPath } from "./protocol";

/** The kubelet has one connection at a time, and a short one. */
const maxConnections = 50;

/**
 * Answers the readiness probe, over HTTP. Anybody may connect to its port, so of too many connections the oldest is
 * closed: the kubelet's is always new.
 */
export function answerReadiness(port: number, isReady: () => boolean): void {
    const open = new Set<Socket>();
    createServer({ maxHeaderSize: 4_096 }, ({ url }, response) => {
        response.writeHead(url === readyPath ? (isReady() ? 200 : 503) : 404).end();
    })
        .on("connection", (socket: Socket) => {
            open.add(socket);
            socket.once("close", () => open.delete(socket));
            const [oldest] = open;
            if (open.size > maxConnections) oldest!.destroy();
        })
        .on("error", log)
        .listen(port);
}
