import { spawn } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { freePort } from "./ports";

/** A server in place of a backend. */
export interface Peer {
    url: string;
    /** Number of accepted connections. */
    connections(): number;
    close(): void;
}

async function listen(server: Server): Promise<Peer> {
    const open = new Set<Socket>();
    let accepted = 0;
    server.on("connection", (socket: Socket) => {
        accepted += 1;
        open.add(socket.on("error", () => {}));
        socket.once("close", () => open.delete(socket));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return {
        url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
        connections: () => accepted,
        close: () => {
            server.close();
            open.forEach((socket) => socket.destroy());
        },
    };
}

export const answering = (listener: RequestListener): Promise<Peer> => listen(createServer(listener));

/** Answers each request with a JSON document. */
export const answeringJson = (document: unknown, status = 200): Promise<Peer> =>
    answering((_request, response) => {
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(document));
    });

export const product = (category: string) => ({
    id: "1cb000fc-4a11-4fd3-a30d-65e5eccf7d56",
    name: "A thing",
    category,
});
export const list = (category: string) => ({ responseType: "REMOTE_SERVICE", products: [product(category)] });

/** Accepts connections and sends nothing. */
export const silent = (): Promise<Peer> => listen(createTcpServer(() => {}));

/** Sends bytes and closes the connection. */
export const saying = (bytes: string): Promise<Peer> => listen(createTcpServer((socket) => socket.end(bytes)));

export const garbled = (): Promise<Peer> => saying("what?\r\n\r\n");

/** Refuses connections. */
export async function refusing(): Promise<Peer> {
    return { url: `http://127.0.0.1:${await freePort()}`, connections: () => 0, close: () => {} };
}

/**
 * Drops packets that open connections, as a firewall does: a listener that never accepts and whose queue is full. The
 * kernel ignores further connections.
 */
export async function dropping(): Promise<Peer> {
    const script = `const server = require("node:net").createServer();
        server.listen({ port: 0, host: "127.0.0.1", backlog: 1 }, () => {
            require("node:fs").writeSync(1, String(server.address().port));
            Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
        });`;
    const child = spawn(process.execPath, ["-e", script], { stdio: ["ignore", "pipe", "inherit"] });
    const port = Number(await new Promise<Buffer>((resolve) => child.stdout.once("data", resolve)));
    const fillers: Socket[] = [];
    let full = false;
    while (!full) {
        const socket = connect(port, "127.0.0.1").on("error", () => {});
        fillers.push(socket);
        full = await new Promise<boolean>((resolve) => {
            socket.once("connect", () => resolve(false));
            setTimeout(() => resolve(true), 150);
        });
    }
    return {
        url: `http://127.0.0.1:${port}`,
        connections: () => 0,
        close: () => {
            fillers.forEach((socket) => socket.destroy());
            child.kill("SIGKILL");
        },
    };
}

/** A proxy to a TCP port that can drop data on all connections, or only new connections. */
export async function switchable(port: number) {
    let takesNew = true;
    const breaks = new Set<() => void>();
    const peer = await listen(
        createTcpServer((near) => {
            if (!takesNew) {
                return;
            }
            const far = connect(port, "127.0.0.1").on("error", () => near.destroy());
            // A connection that lost data stays broken.
            const forward = (from: Socket, to: Socket) =>
                from.on("data", (chunk) => !broken && to.write(chunk)).on("close", () => !broken && to.destroy());
            let broken = false;
            breaks.add(() => (broken = true));
            forward(near, far);
            forward(far, near);
        }),
    );
    return {
        port: Number(new URL(peer.url).port),
        /** Drops data on old and new connections. */
        swallow() {
            takesNew = false;
            breaks.forEach((breakIt) => breakIt());
        },
        /** Open connections survive, new ones lead nowhere: what a NetworkPolicy does. */
        refuseNew() {
            takesNew = false;
        },
        heal() {
            takesNew = true;
        },
        close: () => peer.close(),
    };
}
