import { once } from "node:events";
import { createServer as createHttpServer, type RequestListener, type Server as HttpServer } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import {
    type Limits,
    limits,
    type PodCounts,
    type ProxyFault,
    type ProxyReport,
} from "../../../../../../../chaos/kinds/attacks/fault/proxy/protocol";
import { Proxy, type StopTimes } from "../../../../../../../chaos/kinds/attacks/fault/proxy/proxy";
import { Pods, type Slice } from "../../../../../../../chaos/kinds/attacks/fault/proxy/slices";
import { labels } from "../../../../../../../chaos/cluster/labels";
import { local, until } from "../../../../../../support/until";

/** What a proxy and the witness know of their run. */
export const ofRun = { run: "the-run", pass: "its-random-value" };

/** The chosen pod, in most tests the only one. */
export const target = "uid-of-the-target";

export interface Conditions {
    ready?: boolean;
    serving?: boolean;
    terminating?: boolean;
}

/** A slice of one port without a name. */
export const slice = (port: number, uids: string[] = [target], conditions: Conditions = {}): Slice => ({
    metadata: { name: `slice-${port}`, resourceVersion: "1" },
    ports: [{ name: "", port, protocol: "TCP" }],
    endpoints: uids.map((uid) => ({ addresses: ["127.0.0.1"], conditions, targetRef: { uid } })),
});

export interface ProxyOptions {
    /** @default one that is the target, at the port */
    slices?: Slice[];
    /** @default nothing is faulted, but the dice hit */
    fault?: Partial<ProxyFault>;
    /** @default Math.random */
    random?: () => number;
    limits?: Partial<Limits>;
    /** Addresses of the witness. @default nobody */
    witness?: string[];
    /** @default it does not */
    isPointedTo?: () => boolean;
}

/** A proxy before a pod's port. It ends with the test. */
export async function startProxy(
    podPort: number,
    { slices, fault, random, limits: some, witness = [], isPointedTo = () => false }: ProxyOptions = {},
) {
    const pods = new Pods();
    pods.update(slices ?? [slice(podPort)]);
    const witnesses = new Pods();
    const isAt = (addresses: string[]) =>
        witnesses.update([
            { metadata: { name: "witness" }, endpoints: addresses.map((one) => ({ addresses: [one] })) },
        ]);
    isAt(witness);
    const proxy = new Proxy({
        ...ofRun,
        ports: [{ name: "", listen: 0 }],
        fault: { percentage: 100, ...fault },
        targets: [target],
        witness: witnesses,
        pods,
        isPointedTo,
        random,
        limits: { ...limits, ...some },
    });
    const [port] = await proxy.listen();
    const report = () => {
        let line = "";
        proxy.counts.report((text) => (line = text), Infinity);
        return JSON.parse(line) as ProxyReport;
    };
    const stop = (times: StopTimes) => proxy.stop(times);
    onTestFinished(() => stop({ acceptMs: 0, closeMs: 0 }));
    return {
        port: port!,
        url: `http://127.0.0.1:${port}`,
        pods,
        /** The run says that answers count from now on. */
        answersCount() {
            const labeled = ({ metadata, ...rest }: Slice): Slice => ({
                ...rest,
                metadata: { ...metadata, labels: { [labels.counting]: "true" } },
            });
            pods.update((slices ?? [slice(podPort)]).map(labeled));
        },
        /** The witness has other addresses from now on. */
        witnessIsAt: isAt,
        stop,
        /** Connections that were closed for the limits of all of them. */
        refused: () => report().refused ?? 0,
        /** Clients that had all of their first requests. */
        clients: () => report().clients ?? 0,
        /** Bytes that all connections hold together. */
        held: () => [...proxy["crowd"].members].reduce((sum, { heldBytes }) => sum + heldBytes, 0),
        /** What went to a pod. */
        counts(uid = target): PodCounts {
            return report().pods[uid]!;
        },
    };
}

async function listening(server: Server | HttpServer): Promise<number> {
    await once(server.listen(0, "127.0.0.1"), "listening");
    return (server.address() as AddressInfo).port;
}

/** A pod that answers over HTTP. It ends with the test. @returns its port */
export async function httpPod(listener: RequestListener, change?: (server: HttpServer) => void): Promise<number> {
    const server = createHttpServer(listener);
    change?.(server);
    onTestFinished(() => {
        server.close();
        server.closeAllConnections();
    });
    return listening(server);
}

/** A pod with a program for each connection. It ends with the test. */
export async function tcpPod(serve: (socket: Socket) => void) {
    const sockets: Socket[] = [];
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
        sockets.push(socket);
        serve(socket.on("error", () => {}));
    });
    onTestFinished(() => {
        server.close();
        sockets.forEach((socket) => socket.destroy());
    });
    return { port: await listening(server), sockets };
}

/** A pod that sends back what it gets. */
export const echoPod = () => tcpPod((socket) => socket.pipe(socket));

/** A pod that takes up another protocol after this answer: it sends back what it gets. */
export const switchingPod = (answer: string) =>
    tcpPod((socket) =>
        socket.once("data", () => {
            socket.write(`${answer}\r\n\r\n`);
            socket.pipe(socket);
        }),
    );

/** The lines of an ordinary request. */
export const get = ["GET / HTTP/1.1", "Host: shop", "", ""];

/** A port that accepts no connections. */
export async function closedPort(): Promise<number> {
    const server = createServer();
    const port = await listening(server);
    server.close();
    return port;
}

/** A caller whose bytes a test sends and reads as they are. It ends with the test. */
export class Caller {
    private bytes: Buffer[] = [];
    ended = false;
    closed = false;
    /** Code of the error that has ended the connection, such as `ECONNRESET`. */
    error?: string;

    constructor(readonly socket: Socket) {
        socket.on("data", (chunk: Buffer) => this.bytes.push(chunk));
        socket.on("end", () => (this.ended = true));
        socket.on("close", () => (this.closed = true));
        socket.on("error", ({ code }: NodeJS.ErrnoException) => (this.error = code));
        onTestFinished(() => void socket.destroy());
    }

    /** @param from the caller's address. @default 127.0.0.1 */
    static async connect(port: number, from?: string): Promise<Caller> {
        const options = { host: "127.0.0.1", port, localAddress: from, allowHalfOpen: true, noDelay: true };
        const socket = connect(options);
        const caller = new Caller(socket);
        // A reset may come before the caller knows that it is connected.
        await until("a connection", () => !socket.connecting || caller.closed, { ...local, pauseMs: 2 });
        return caller;
    }

    get received(): string {
        return Buffer.concat(this.bytes).toString("latin1");
    }

    /** Sends lines that end as those of HTTP. */
    send(...lines: string[]): this {
        this.socket.write(lines.join("\r\n"), "latin1");
        return this;
    }

    /** Waits for a text, and forgets what came until its end. */
    async receives(text: string): Promise<void> {
        const seen = () => this.received.includes(text);
        await until(`${text} in ${this.received}`, () => seen() || this.closed, local);
        if (!seen()) throw new Error(`the connection has closed (${this.error}) after: ${this.received}`);
        const rest = this.received.slice(this.received.indexOf(text) + text.length);
        this.bytes = [Buffer.from(rest, "latin1")];
    }

    /** All that comes until the other end sends no more, or resets. */
    async toEnd(): Promise<string> {
        await until(`the end after ${this.received}`, () => this.ended || this.closed, local);
        return this.received;
    }

    /** Waits until the connection is reset. */
    async isReset(): Promise<void> {
        await until("a reset", () => this.closed || this.ended, local);
        if (this.error !== "ECONNRESET") throw new Error(`ended with ${this.error} after: ${this.received}`);
    }
}

/** How long something takes, in milliseconds. */
export async function timed(work: () => Promise<unknown>): Promise<number> {
    const begun = performance.now();
    await work();
    return performance.now() - begun;
}
