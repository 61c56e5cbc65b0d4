import { chmodSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { TLSSocket } from "node:tls";
import { makeCertificate } from "../../../support/certificate";

export const folder = mkdtempSync(join(tmpdir(), "chaos-shop-logins-"));
const { keyFile, certificateFile } = makeCertificate(folder);
export const [key, certificate] = [keyFile, certificateFile].map((file) => readFileSync(file, "utf8")) as [
    string,
    string,
];

/** Values of the headers that say who asks, by name in lower case: `certificate` is the name in the client's. */
export type Asked = Record<string, string[]>;

/** An API server that has every namespace, and notes who asks. */
export class LoginServer {
    readonly asked: Asked[] = [];
    /** Of what it is sent. */
    readonly contentTypes: (string | undefined)[] = [];
    /** Answers 401 to another token. */
    onlyToken?: string;
    private readonly servers: Server[] = [];

    async start(): Promise<this> {
        const answer = (request: IncomingMessage, response: ServerResponse) => {
            const isAllowed = this.note(request);
            const body = isAllowed
                ? { kind: "Namespace", metadata: { name: "demo" } }
                : { kind: "Status", apiVersion: "v1", status: "Failure", message: "Unauthorized", code: 401 };
            response.writeHead(isAllowed ? 200 : 401, { "content-type": "application/json" }).end(JSON.stringify(body));
        };
        const tls = { key, cert: certificate, requestCert: true, rejectUnauthorized: false };
        this.servers.push(createServer(tls, answer), createHttpServer(answer));
        for (const server of this.servers) {
            server.on("upgrade", (request: IncomingMessage, socket: TLSSocket) => {
                socket.end(`HTTP/1.1 ${this.note(request) ? "404 Not Found" : "401 Unauthorized"}\r\n\r\n`);
            });
            await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        }
        return this;
    }

    stop(): void {
        for (const server of this.servers) server.close();
    }

    get url(): string {
        return `https://127.0.0.1:${(this.servers[0]!.address() as AddressInfo).port}`;
    }

    get urlWithoutTls(): string {
        return `http://127.0.0.1:${(this.servers[1]!.address() as AddressInfo).port}`;
    }

    /** @returns whether the token is right */
    private note({ headers, headersDistinct, socket }: IncomingMessage): boolean {
        this.contentTypes.push(headers["content-type"]);
        const told = Object.entries(headersDistinct).filter(([name]) => /^(?:authorization$|impersonate-)/.test(name));
        const name = (socket as TLSSocket).getPeerCertificate?.().subject?.CN as string | undefined;
        this.asked.push({ ...(Object.fromEntries(told) as Asked), ...(name !== undefined && { certificate: [name] }) });
        return this.onlyToken === undefined || headersDistinct.authorization?.[0] === `Bearer ${this.onlyToken}`;
    }
}

/** Writes a file in the folder of the tests, with the folders that lead to it. @returns its path */
export function write(name: string, content: string | object): string {
    const file = join(folder, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, typeof content === "string" ? content : JSON.stringify(content));
    return file;
}

/** Writes an exec plugin that notes each run, with what it is told, beside itself. @returns its path */
export function writePlugin(name: string, script: string): string {
    const file = write(name, `#!/bin/sh\necho "$KUBERNETES_EXEC_INFO" >> "${join(folder, name)}.runs"\n${script}\n`);
    chmodSync(file, 0o700);
    return file;
}

/** What a plugin was told at each of its runs. */
export const runsOf = (name: string): unknown[] =>
    readFileSync(join(folder, `${name}.runs`), "utf8")
        .trim()
        .split("\n")
        .map((line) => (line === "" ? undefined : (JSON.parse(line) as unknown)));

/** The lines of a plugin's script that give credentials. */
export function giving(status: object): string {
    const credential = { apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status };
    return `cat <<'END'\n${JSON.stringify(credential)}\nEND`;
}

export interface Proxy {
    url: string;
    /** Whom it was asked to connect to. Whoever that is, it connects to the port of this machine. */
    reached: string[];
    stop: () => void;
}

function tunnel(near: Socket, port: number, answer: string | Buffer): void {
    const far = connect(port, "127.0.0.1", () => near.write(answer));
    far.on("error", () => near.destroy()).pipe(near);
    near.on("error", () => far.destroy()).pipe(far);
}

async function startProxy(scheme: string, server: Server, reached: string[]): Promise<Proxy> {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return { url, reached, stop: () => server.close() };
}

export const proxies = {
    http: (): Promise<Proxy> => {
        const reached: string[] = [];
        const server = createHttpServer().on("connect", ({ url }, near: Socket) => {
            reached.push(url!);
            tunnel(near, Number(url!.split(":")[1]), "HTTP/1.1 200 OK\r\n\r\n");
        });
        return startProxy("http", server, reached);
    },
    /** Of SOCKS 5 (RFC 1928): no authentication, and connections to IPv4 addresses. */
    socks5: (): Promise<Proxy> => {
        const reached: string[] = [];
        const server = createTcpServer((near) => {
            near.once("data", () => {
                near.write(Buffer.from([5, 0]));
                near.once("data", (asked) => {
                    const port = asked.readUInt16BE(8);
                    reached.push(`${asked.subarray(4, 8).join(".")}:${port}`);
                    tunnel(near, port, Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]));
                });
            });
        });
        return startProxy("socks5", server, reached);
    },
};
