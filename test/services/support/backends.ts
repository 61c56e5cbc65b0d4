import { spawn } from "node:child_process";
import { createServer, type RequestListener } from "node:http";
import { connect, createServer as createTcpServer, type AddressInfo, type Server, type Socket } from "node:net";
import { freePort } from "./ports";

/** Something that stands where a backend should be. */
export interface Peer {
    url: string;
    /** How many connections it has accepted. */
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

/** Answers each request as told. */
export const answering = (listener: RequestListener): Promise<Peer> => listen(createServer(listener));

/** Answers each request with a JSON document. */
export const answeringJson = (document: unknown, status = 200): Promise<Peer> =>
    answering((_request, response) => {
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(document));
    });

/** Accepts connections and says nothing. */
export const silent = (): Promise<Peer> => listen(createTcpServer(() => {}));

/** Sends a few bytes, HTTP or not, and hangs up. */
export const saying = (bytes: string): Promise<Peer> => listen(createTcpServer((socket) => socket.end(bytes)));

/** Sends a few bytes that are not HTTP. */
export const garbled = (): Promise<Peer> => saying("what?\r\n\r\n");

/** Refuses connections. */
export async function refusing(): Promise<Peer> {
    return { url: `http://127.0.0.1:${await freePort()}`, connections: () => 0, close: () => {} };
}

/**
 * Drops the packets that ask for a connection, as a firewall does: a listener that never accepts, with its queue
 * full. The kernel then ignores further ones.
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

/** A way to a TCP port that can be made to swallow everything, on old connections and new ones, and healed again. */
export async function switchable(port: number) {
    let takesNew = true;
    const breaks = new Set<() => void>();
    const peer = await listen(
        createTcpServer((near) => {
            if (!takesNew) {
                return;
            }
            const far = connect(port, "127.0.0.1").on("error", () => near.destroy());
            // What was swallowed once stays lost: a connection that lived through a blackhole must not come back.
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
        /** Nothing more comes through. */
        swallow() {
            takesNew = false;
            breaks.forEach((breakIt) => breakIt());
        },
        /** Connections that are open live on, new ones lead nowhere: what a NetworkPolicy does. */
        refuseNew() {
            takesNew = false;
        },
        heal() {
            takesNew = true;
        },
        close: peer.close,
    };
}
