import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { probeThrough } from "../../chaos/attacks/fault/proxy/probe";
import {
    nodeFlags,
    type ProxyEnvironment,
    type ProxyReport,
    type ReachReport,
    type Tried,
} from "../../chaos/attacks/fault/proxy/protocol";
import { bundledFile } from "../../toolchain/bundle";
import { local, until } from "../support/until";
import { startApiServer } from "../unit/services/support/api-server";

const program = join(__dirname, "..", "..", "chaos", "attacks", "fault", "proxy", "main.ts");

it("the proxy's program is ready when it knows its pods, forwards, faults, reports, and ends on SIGTERM", async () => {
    const pod = createServer((_, response) => response.end("from the pod"));
    const podPort = await listen(pod);
    let listable = false;
    const items = [
        {
            metadata: { name: "slice" },
            ports: [{ name: "http", port: podPort }],
            endpoints: [{ addresses: ["127.0.0.1"], targetRef: { uid: "a-target" } }],
        },
    ];
    const api = await startApiServer(({ url }, response) => {
        if (url!.includes("watch=true")) response.flushHeaders();
        else
            response.writeHead(listable ? 200 : 500).end(JSON.stringify({ metadata: { resourceVersion: "1" }, items }));
    });
    const [port, witnessed, readyPort] = await freePorts(3);
    const env = (ownPort: number, witness: string): ProxyEnvironment => ({
        NAMESPACE: "demo",
        SERVICE: "hot-deals-real",
        RUN: "the-run",
        PORTS: JSON.stringify([{ name: "http", listen: ownPort }]),
        FAULT: JSON.stringify({ delayMs: 100, abort: 503, percentage: 100 }),
        TARGETS: JSON.stringify(["a-target"]),
        WITNESS: witness,
        READY_PORT: String(readyPort),
    });
    const proxy = start(env(port!, ""));
    const readiness = async () => (await fetch(`http://127.0.0.1:${readyPort}/ready`).catch(() => undefined))?.status;
    await until("it is not ready", async () => (await readiness()) === 503, local);
    listable = true;
    await until("it is ready", async () => (await readiness()) === 200, local);

    await until("it has reached the pod", () => proxy.reached(), local);
    expect(proxy.reached()).toEqual([{ pod: "a-target", listen: port, saw: "connected" }]);

    const refused = await fetch(`http://127.0.0.1:${port}`);
    expect([refused.status, await refused.text()]).toEqual([503, expect.stringContaining("the-run")]);
    const counts = { requests: 1, faulted: 1, unfaultable: 0, unreachable: 0 };
    await until("it is reported", () => proxy.reports().at(-1)?.pods["a-target"], local);
    expect(proxy.reports().at(-1)).toEqual({ at: expect.any(Number), pods: { "a-target": counts } });

    proxy.child.kill("SIGTERM");
    await until("faults are over", async () => (await fetch(`http://127.0.0.1:${port}`)).ok, local);
    proxy.child.kill("SIGTERM");
    await until("it ends", () => proxy.child.exitCode !== null, local);
    expect(proxy.child.exitCode).toBe(0);
    const lines = proxy.reports();
    expect(
        lines.every(({ at }, index) => index === 0 || at - lines[index - 1]!.at > 900 || index === lines.length - 1),
    ).toBe(true);

    const probed = start(env(witnessed!, "127.0.0.1"));
    await until("it is ready", async () => (await readiness()) === 200, local);
    const seen = await probeThrough({ host: "127.0.0.1", port: witnessed! }, "the-run", "a-target", 2_000);
    expect(seen).toMatchObject({ saw: "status", status: 503 });
    probed.child.kill("SIGKILL");

    function start(environment: ProxyEnvironment): {
        child: ChildProcess;
        reports: () => ProxyReport[];
        reached: () => Tried[] | undefined;
    } {
        const child = spawn(process.execPath, [...nodeFlags, bundledFile(program, { minify: false })], {
            env: {
                ...environment,
                ACCOUNT_FOLDER: api.account,
                KUBERNETES_SERVICE_HOST: String(api.host),
                KUBERNETES_SERVICE_PORT: String(api.port),
            },
            stdio: ["ignore", "pipe", "ignore"],
        });
        onTestFinished(() => void child.kill("SIGKILL"));
        let output = "";
        child.stdout.on("data", (text) => (output += String(text)));
        const lines = () =>
            output
                .split("\n")
                .slice(0, -1)
                .map((line) => JSON.parse(line) as ProxyReport | ReachReport);
        const reports = () => lines().filter((line) => "pods" in line);
        const reached = () => lines().findLast((line) => "reach" in line)?.reach;
        return { child, reports, reached };
    }
});

async function listen(server: ReturnType<typeof createServer>): Promise<number> {
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => {
        server.close();
        server.closeAllConnections();
    });
    return (server.address() as AddressInfo).port;
}

async function freePorts(count: number): Promise<number[]> {
    const servers = Array.from({ length: count }, () => createServer());
    const ports = await Promise.all(servers.map(listen));
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
    return ports;
}
