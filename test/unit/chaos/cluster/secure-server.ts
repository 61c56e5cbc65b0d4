import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeEach } from "vitest";
import { type Cluster, connect } from "../../../../chaos/cluster/client";
import { makeCertificate } from "../../../support/certificate";

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const found: Answer = (_, response) => void response.end('{"metadata":{"name":"demo"}}');

/** A server over TLS on this machine, in each test of a file. Its certificate is that of `api.example`. */
export function secureServer() {
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-server-"));
    const files = makeCertificate(folder, "DNS:api.example");
    const [key, cert] = [files.keyFile, files.certificateFile].map((file) => readFileSync(file, "utf8"));
    const state = { folder, key: key!, cert: cert!, port: 0, connections: 0, answer: found };
    let server: Server;
    beforeEach(async () => {
        Object.assign(state, { connections: 0, answer: found });
        const options = { key, cert, requestCert: true, rejectUnauthorized: false };
        server = createServer(options, (...all) => state.answer(...all));
        server.on("secureConnection", () => state.connections++);
        await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
        state.port = (server.address() as AddressInfo).port;
    });
    afterEach(() => {
        server.closeAllConnections();
        server.close();
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    /** The cluster whose API server it is. @param more of its entry in the kubeconfig */
    const cluster = (more: object = {}, user: object = {}, timeoutMs?: number): Cluster => {
        const ca = { "certificate-authority-data": Buffer.from(state.cert).toString("base64") };
        const entry = { server: `https://127.0.0.1:${state.port}`, "tls-server-name": "api.example", ...ca, ...more };
        const kubeconfig = JSON.stringify({
            clusters: [{ name: "c", cluster: entry }],
            users: [{ name: "u", user }],
            contexts: [{ name: "test", context: { cluster: "c", user: "u" } }],
        });
        return connect({ kubeconfig, context: "test" }, timeoutMs);
    };
    return Object.assign(state, { cluster });
}
