import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
    nodeFlags,
    type ProxyEnvironment,
    type ProxyFault,
    type ProxyPort,
    type RequestMatch,
    readyPath,
} from "../chaos/kinds/attacks/fault/proxy/protocol";
import type { Slice } from "../chaos/kinds/attacks/fault/proxy/slices";
import { bundledFile } from "../toolchain/bundle";
import { until } from "./time";

const uid = "the-only-pod";
/** Watches end after this time, as those of an API server do. */
const watchMs = 30_000;
/** Where it answers, it prints its port. */
const serverProgram = `
    const server = require("node:http").createServer((_, response) => response.end("x".repeat(1000)));
    server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

/**
 * Starts a bare server on this machine, and the proxy of the attack `fault` before it, with the options of its pod. The
 * fault is a delay of 0 ms.
 *
 * @param match of the fault. @default everything is delayed
 */
export async function startProxiedServer(match?: RequestMatch) {
    const folder = mkdtempSync(join(tmpdir(), "chaos-shop-bench-proxy-"));
    const server = spawn(process.execPath, ["--eval", serverProgram], { stdio: ["ignore", "pipe", "inherit"] });
    const [text] = (await once(server.stdout, "data")) as [Buffer];
    const serverPort = Number(String(text));
    const api = await sliceServer(folder, serverPort);
    const [listen, readyPort] = [await freePort(), await freePort()];
    const env: ProxyEnvironment = {
        NAMESPACE: "bench",
        SERVICE: "bench",
        FAULTED: "bench",
        RUN: "bench",
        PASS: "bench",
        PORTS: JSON.stringify([{ name: "", listen }] satisfies ProxyPort[]),
        FAULT: JSON.stringify({ delayMs: 0, percentage: 100, match } satisfies ProxyFault),
        TARGETS: JSON.stringify([uid]),
        WITNESS: noWitness,
        READY_PORT: String(readyPort),
    };
    const program = bundledFile(join(__dirname, "../chaos/kinds/attacks/fault/proxy/proxy-program.ts"), {
        minify: false,
    });
    const proxy = spawn(process.execPath, [...nodeFlags, program], {
        env: { ...env, ...api.environment },
        stdio: ["ignore", "ignore", "inherit"],
    });
    const end = () => {
        for (const child of [proxy, server]) child.kill("SIGKILL");
        api.close();
        rmSync(folder, { recursive: true, force: true });
    };
    try {
        await until("the proxy is ready", 10, async () => {
            const answer = await fetch(`http://127.0.0.1:${readyPort}${readyPath}`).catch(() => undefined);
            return answer?.ok ?? false;
        });
    } catch (error) {
        end();
        throw error;
    }
    return { urls: { direct: `http://127.0.0.1:${serverPort}`, proxied: `http://127.0.0.1:${listen}` }, end };
}

/** Name of a Service without pods. */
const noWitness = "no-witness";

/** An API server that lists one pod, at a port of this machine. */
async function sliceServer(folder: string, port: number) {
    const [keyFile, authority] = [join(folder, "key.pem"), join(folder, "ca.crt")];
    const subject = ["-nodes", "-subj", "/CN=bench", "-addext", "subjectAltName=IP:127.0.0.1"];
    const options = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", ...subject];
    execFileSync("openssl", ["req", "-x509", ...options, "-keyout", keyFile, "-out", authority], { stdio: "pipe" });
    writeFileSync(join(folder, "token"), "none is asked for");
    const slice: Slice = {
        metadata: { name: "bench" },
        ports: [{ name: "", port }],
        endpoints: [{ addresses: ["127.0.0.1"], targetRef: { uid } }],
    };
    const listOf = (items: Slice[]) => JSON.stringify({ metadata: { resourceVersion: "1" }, items });
    const server = createServer({ key: readFileSync(keyFile), cert: readFileSync(authority) }, (request, response) => {
        if (request.url!.includes("watch=true")) setTimeout(() => response.end(), watchMs);
        else response.end(listOf(request.url!.includes(noWitness) ? [] : [slice]));
    });
    await once(server.listen(0, "127.0.0.1"), "listening");
    return {
        environment: {
            ACCOUNT_FOLDER: folder,
            KUBERNETES_SERVICE_HOST: "127.0.0.1",
            KUBERNETES_SERVICE_PORT: String((server.address() as AddressInfo).port),
        },
        close: () => {
            server.close();
            server.closeAllConnections();
        },
    };
}

/** A port of this machine that nobody listens on. */
async function freePort(): Promise<number> {
    const server = createTcpServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    server.close();
    return port;
}
