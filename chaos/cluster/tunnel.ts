/** Connections through a proxy. */
import { Agent as HttpAgent, request as httpRequest } from "node:http";
import { Agent as HttpsAgent, type AgentOptions, request as httpsRequest } from "node:https";
import { connect, isIP, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { connect as connectTls } from "node:tls";

/** How long a proxy may take to connect, in milliseconds. */
const timeoutMs = 30_000;

/** An agent whose connections lead to a server, through a proxy if there is one. */
export function agentFor(server: string, proxyUrl: string | undefined, options: AgentOptions): HttpAgent {
    const isTls = server.startsWith("https:");
    const agent = isTls ? new HttpsAgent(options) : new HttpAgent(options);
    if (proxyUrl === undefined) return agent;
    type Create = (to: Target, done: (error: Error | null, socket?: Duplex) => void) => undefined;
    const createConnection: Create = (to, done) => {
        const connected = tunnel(new URL(proxyUrl), to).then((socket) => (isTls ? securedOver(socket, to) : socket));
        connected.then(
            (socket) => done(null, socket),
            (error: Error) => done(error),
        );
        return undefined;
    };
    return Object.assign(agent, { createConnection });
}

interface Target {
    host: string;
    port: string | number;
    servername?: string;
}

async function tunnel(proxy: URL, to: Target): Promise<Socket> {
    return proxy.protocol.startsWith("socks") ? throughSocks(proxy, to) : throughHttp(proxy, to);
}

/** @throws Error if TLS rejects the certificate or the key of the client */
function securedOver(socket: Socket, to: Target): Socket {
    try {
        return connectTls({ ...to, port: Number(to.port), socket, path: undefined });
    } catch (error) {
        socket.destroy();
        throw error;
    }
}

const login = ({ username, password }: URL) => [username, password].map(decodeURIComponent) as [string, string];

const hostOf = ({ hostname }: URL) => hostname.replace(/^\[|\]$/g, "");

/** Opens a tunnel by `CONNECT`: https://www.rfc-editor.org/rfc/rfc9110#name-connect */
function throughHttp(proxy: URL, { host, port }: Target): Promise<Socket> {
    const isTls = proxy.protocol === "https:";
    const path = `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
    const credentials = Buffer.from(login(proxy).join(":")).toString("base64");
    return new Promise((resolve, reject) => {
        const outgoing = (isTls ? httpsRequest : httpRequest)({
            host: hostOf(proxy),
            port: proxy.port || (isTls ? 443 : 80),
            method: "CONNECT",
            path,
            agent: false,
            headers: { host: path, ...(proxy.username && { "proxy-authorization": `Basic ${credentials}` }) },
        });
        // The limit is for the whole answer: a proxy may send a byte now and then.
        const limit = setTimeout(() => outgoing.destroy(new Error("the proxy does not answer")), timeoutMs);
        outgoing.on("connect", ({ statusCode }, socket, head) => {
            clearTimeout(limit);
            if (statusCode !== 200) {
                socket.destroy();
                return reject(new Error(`the proxy answered with status ${statusCode}`));
            }
            if (head.length > 0) socket.unshift(head);
            resolve(socket);
        });
        outgoing.on("response", ({ statusCode }) => {
            reject(new Error(`the proxy answered with status ${statusCode}`));
            outgoing.destroy();
        });
        outgoing.on("error", reject);
        outgoing.on("close", () => {
            clearTimeout(limit);
            reject(new Error("the proxy closed the connection"));
        });
        outgoing.end();
    });
}

const socksProblems = [
    "has failed",
    "does not allow this connection",
    "finds the network unreachable",
    "finds the host unreachable",
    "finds the connection refused",
    "has got no answer",
];

/** SOCKS 5 (https://www.rfc-editor.org/rfc/rfc1928), with names looked up by the proxy, as kubectl has it. */
async function throughSocks(proxy: URL, { host, port }: Target): Promise<Socket> {
    const socket = connect({ host: hostOf(proxy), port: Number(proxy.port || 1_080) });
    const limit = setTimeout(() => socket.destroy(new Error("the proxy does not answer")), timeoutMs);
    try {
        const bytes = reader(socket);
        const hasLogin = proxy.username !== "";
        // Version, and the methods: with a password, or without any login.
        socket.write(Uint8Array.of(5, 1, hasLogin ? 2 : 0));
        const [, method] = await bytes(2);
        if (method === 2 && hasLogin) {
            // https://www.rfc-editor.org/rfc/rfc1929
            const parts = login(proxy).map((part) => Buffer.from(part));
            socket.write(
                Buffer.concat([Uint8Array.of(1), ...parts.flatMap((part) => [Uint8Array.of(part.length), part])]),
            );
            const [, refused] = await bytes(2);
            if (refused !== 0) throw new Error("the proxy rejects the login");
        } else if (method !== 0) throw new Error("the proxy wants another login");
        socket.write(
            Buffer.concat([
                Uint8Array.of(5, 1, 0),
                addressOf(host),
                Uint8Array.of(Number(port) >> 8, Number(port) & 255),
            ]),
        );
        const [, problem = 1, , type] = await bytes(4);
        if (problem !== 0) throw new Error(`the proxy ${socksProblems[problem - 1] ?? `says ${problem}`}`);
        // The proxy's own address and port come next, and are not needed.
        await bytes((type === 1 ? 4 : type === 4 ? 16 : (await bytes(1))[0]!) + 2);
        return socket;
    } catch (error) {
        socket.destroy();
        throw error;
    } finally {
        clearTimeout(limit);
    }
}

/** An address as SOCKS has it: with its type before it. */
function addressOf(host: string): Buffer {
    if (isIP(host) === 4) return Buffer.from([1, ...host.split(".").map(Number)]);
    if (isIP(host) === 0) return Buffer.concat([Uint8Array.of(3, Buffer.byteLength(host)), Buffer.from(host)]);
    // The URL parser writes it in hexadecimal, and leaves out the longest row of zeros.
    const [before, after] = new URL(`http://[${host}]`).hostname
        .slice(1, -1)
        .split("::")
        .map((part) => part.split(":").filter(Boolean));
    const zeros = Array.from({ length: 8 - before!.length - (after?.length ?? 0) }, () => "0");
    const groups = [...before!, ...zeros, ...(after ?? [])].map((group) => parseInt(group, 16));
    return Buffer.from([4, ...groups.flatMap((group) => [group >> 8, group & 255])]);
}

/** Reads as many bytes as are asked for, and leaves the rest. */
function reader(socket: Socket): (count: number) => Promise<Buffer> {
    return (count) =>
        new Promise((resolve, reject) => {
            const onEnd = () => reject(new Error("the proxy closed the connection"));
            const look = () => {
                const read = socket.read(count) as Buffer | null;
                if (read === null) return;
                socket.off("readable", look).off("error", reject).off("close", onEnd);
                resolve(read);
            };
            socket.on("readable", look).on("error", reject).on("close", onEnd);
            look();
        });
}
