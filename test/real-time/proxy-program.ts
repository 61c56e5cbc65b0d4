import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import {
    nodeFlags,
    type ProxyEnvironment,
    type ProxyFault,
    type ProxyReport,
    type ReachReport,
    type Tried,
} from "../../chaos/kinds/attacks/fault/proxy/protocol";
import { bundledFile } from "../../toolchain/bundle";
import { startApiServer } from "../unit/services/support/api-server";

const program = join(__dirname, "..", "..", "chaos", "kinds", "attacks", "fault", "proxy", "proxy-program.ts");

export const ofRun = { run: "the-run", pass: "its-random-value" };

/**
 * A pod that answers over HTTP, and an API server that lists it, as `a-target` of the Service `hot-deals-real`, and the
 * proxy as the only pod of `hot-deals`.
 */
export async function startPod(answer: RequestListener, isListable = () => true) {
    const port = await listen(createServer(answer));
    const slice = {
        metadata: { name: "slice" },
        ports: [{ name: "http", port }],
        endpoints: [{ addresses: ["127.0.0.1"], targetRef: { uid: "a-target" } }],
    };
    const api = await startApiServer(({ url }, response) => {
        const [, service] = /service-name%3D([\w-]+)/.exec(url!)!;
        const ofProxy = { ...slice, endpoints: [{ addresses: ["127.0.0.2"], targetRef: { name: "hot-deals-real" } }] };
        const items = { nobody: [], "hot-deals": [ofProxy] }[service!] ?? [slice];
        if (url!.includes("watch=true")) response.flushHeaders();
        else
            response
                .writeHead(isListable() ? 200 : 500)
                .end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
    });
    return { port, api };
}

export interface ProxyProgram {
    child: ChildProcess;
    reports: () => ProxyReport[];
    reached: () => Tried[] | undefined;
    /** Lines for people. */
    said: () => string;
}

/**
 * The proxy's program, with the options of its pod. It ends with the test.
 *
 * @param witness the Service that lists the witness. `nobody` lists none
 * @param faulted the Service whose place the proxy takes
 */
export function startProxyProgram(
    { api }: Awaited<ReturnType<typeof startPod>>,
    {
        port,
        readyPort,
        fault,
        witness = "nobody",
        faulted = "nobody",
    }: { port: number; readyPort: number; fault: ProxyFault; witness?: string; faulted?: string },
): ProxyProgram {
    const env: ProxyEnvironment = {
        NAMESPACE: "demo",
        SERVICE: "hot-deals-real",
        FAULTED: faulted,
        RUN: ofRun.run,
        PASS: ofRun.pass,
        PORTS: JSON.stringify([{ name: "http", listen: port }]),
        FAULT: JSON.stringify(fault),
        TARGETS: JSON.stringify(["a-target"]),
        WITNESS: witness,
        READY_PORT: String(readyPort),
    };
    const child = spawn(process.execPath, [...nodeFlags, bundledFile(program, { minify: false })], {
        env: {
            ...env,
            ACCOUNT_FOLDER: api.account,
            KUBERNETES_SERVICE_HOST: String(api.host),
            KUBERNETES_SERVICE_PORT: String(api.port),
        },
        stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    let [output, said] = ["", ""];
    child.stdout.on("data", (text) => (output += String(text)));
    child.stderr.on("data", (text) => (said += String(text)));
    const lines = () =>
        output
            .split("\n")
            .slice(0, -1)
            .map((line) => JSON.parse(line) as ProxyReport | ReachReport);
    const reports = () => lines().filter((line) => "pods" in line);
    const reached = () => lines().findLast((line) => "reach" in line)?.reach;
    return { child, reports, reached, said: () => said };
}

/** The status of the readiness probe. Undefined if nothing answers. */
export const readiness = async (readyPort: number) =>
    (await fetch(`http://127.0.0.1:${readyPort}/ready`).catch(() => undefined))?.status;

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
    await once(server.listen({ port: 0, host: "127.0.0.1", backlog: 4_096 }), "listening");
    onTestFinished(() => {
        server.close();
        server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
}

export async function freePorts(count: number): Promise<number[]> {
    const servers = Array.from({ length: count }, () => createServer());
    const ports = await Promise.all(servers.map(listen));
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    return ports;
}
