import { once } from "node:events";
import {
    createServer,
    type IncomingHttpHeaders,
    type IncomingMessage,
    type Server,
    type ServerResponse,
} from "node:http";
import { createSecureServer, createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { afterEach, expect, onTestFinished } from "vitest";
import { Endpoints, type KnownRoutes } from "../../../../../chaos/kinds/checks/endpoints";
import type { CheckContext } from "../../../../../chaos/kinds/checks/check-kind";
import { kubeconfigFrom } from "../../../../../chaos/cluster/kubeconfig";
import { kubeconfigOf } from "../../../../support/kubeconfig";
import type { FakeCluster } from "../../support/fake-cluster";

const servers: Server[] = [];
afterEach(async () => {
    for (const server of servers.splice(0)) {
        server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
    }
});

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a server on this machine until the end of the test. @returns its port */
export async function serve(
    handler: Handler,
    tls?: { key: string; cert: string },
    at = { host: "127.0.0.1", port: 0 },
): Promise<number> {
    const server = (tls ? createTlsServer(tls, handler) : createServer(handler)).listen(at);
    servers.push(server);
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
}

/** Starts a server of HTTP/2 until the end of the test, in clear text or with TLS. @returns its port */
export async function serveHttp2(
    handler: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void,
    tls?: { key: string; cert: string },
): Promise<number> {
    const server = (tls ? createSecureServer(tls) : createHttp2Server()).on("stream", handler).listen(0, "127.0.0.1");
    const close = new Promise<void>((closed) => server.on("close", closed));
    server.on("session", (session) => onTestFinished(() => void session.destroy()));
    onTestFinished(async () => {
        server.close();
        await close;
    });
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
}

/** Starts a server that keeps each request, with its body, and answers it. @returns its port, and the requests */
export async function recording(answer: (asked: Asked, response: ServerResponse) => unknown = ok) {
    const asked: Asked[] = [];
    const port = await serve((request, response) => {
        void request.toArray().then((chunks) => {
            const { method, url = "", headers } = request;
            const one = { method, url, headers, body: Buffer.concat(chunks as Buffer[]).toString() };
            asked.push(one);
            answer(one, response);
        });
    });
    return { port, url: `http://127.0.0.1:${port}`, asked, paths: () => asked.splice(0).map(({ url }) => url) };
}

export interface Asked {
    method?: string;
    url: string;
    headers: IncomingHttpHeaders;
    body: string;
}

/** Answers with an empty document. */
export const ok = (_: unknown, response: ServerResponse) => response.end("{}");

/** A port that refuses connections. */
export async function closedPort(): Promise<number> {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    await new Promise((closed) => server.close(closed));
    return port;
}

/** An answer that says nothing of the application, with this problem. */
export const unseen = (problem: unknown) => ({
    good: false,
    unseen: true,
    problem: problem instanceof RegExp ? (expect.stringMatching(problem) as unknown) : problem,
});

/** What the API server says itself. */
export const statusObject = (code: number, message: string) =>
    JSON.stringify({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, code });

/** Has calls that are not the client's go to a server at a port of this machine. */
export function useApiServer(cluster: FakeCluster, port: number): void {
    cluster.api.kubeconfig = kubeconfigFrom(kubeconfigOf("kind-a", `http://127.0.0.1:${port}`));
}

export function contextOf({ api }: FakeCluster, known?: KnownRoutes): CheckContext {
    const endpoints = new Endpoints(api, "demo", known);
    return { cluster: api, endpoints, defaultNamespace: "demo", clusterName: "local" };
}

/** Adds a Service, with an external address if it is given. */
export function addService(cluster: FakeCluster, name: string, ports: object[], ip?: string, namespace = "demo"): void {
    const status = { loadBalancer: ip === undefined ? {} : { ingress: [{ ip }] } };
    cluster.add("Service", name, { spec: { selector: { app: name }, ports }, status }, namespace);
}

export const base64 = (text: string) => Buffer.from(text).toString("base64");
