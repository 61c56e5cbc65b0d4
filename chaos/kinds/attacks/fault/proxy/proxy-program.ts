/**
 * Runs in the pod of the proxy that the attack `fault` puts in the place of a Service, and forwards each connection to
 * one of the Service's pods, as the Service did. It delays, aborts or resets only what goes to the chosen pods.
 *
 * Its log has a `ProxyReport` per line. On SIGTERM the faults end at once, and the process when the Service no
 * longer leads here and its connections have ended.
 */
import { createServer } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { log } from "./counts";
import { followPods } from "./follow";
import {
    limits,
    needsHttp,
    type ProxyEnvironment,
    type ProxyFault,
    type ProxyPort,
    readyPath,
    triesForMs,
} from "./protocol";
import { Proxy } from "./proxy";
import { Reach } from "./reach";
import { Pods } from "./slices";

const { NAMESPACE, SERVICE, FAULTED, RUN, PASS, PORTS, FAULT, TARGETS, WITNESS, READY_PORT } =
    process.env as unknown as ProxyEnvironment;
const reportMs = 1_000;

async function main(): Promise<void> {
    const [pods, witness, faulted] = [new Pods(), new Pods(), new Pods()];
    const ports = JSON.parse(PORTS) as ProxyPort[];
    const fault = JSON.parse(FAULT) as ProxyFault;
    const proxy = new Proxy({
        run: RUN,
        pass: PASS,
        ports,
        fault,
        targets: JSON.parse(TARGETS) as string[],
        witness,
        pods,
        isPointedTo: () => faulted.include(SERVICE),
    });
    const write = (line: string) => process.stdout.write(line);
    const report = () => proxy.counts.report(write);
    setInterval(report, reportMs);
    process.on("SIGTERM", () => {
        void proxy.stop().then(() => {
            report();
            process.exit(0);
        });
    });
    answerReadiness(Number(READY_PORT), () => proxy.ready);
    const { connections, heldBytes, headBytes, headMs } = limits;
    log(
        `at most ${connections} connections at a time, ${heldBytes >> 20} MiB of their bytes, and for the head of a ` +
            `request ${headBytes >> 10} KiB and ${headMs / 1_000} s`,
    );
    void followPods(pods, NAMESPACE, SERVICE);
    void followPods(witness, NAMESPACE, WITNESS);
    // It has no rights any more once the run is undone, would take the Service as pointed here, and never end.
    void followPods(faulted, NAMESPACE, FAULTED, undefined, undefined, () => faulted.update([]));
    await proxy.listen();
    while (!pods.listed) await sleep(100);
    // Slices may come one by one, and a network may take a while to let the proxy through.
    const reach = new Reach(pods, ports, needsHttp(fault));
    for (const begun = performance.now(); performance.now() - begun < triesForMs; await sleep(reportMs))
        await reach.look(write);
}

/** The kubelet has one connection at a time, and a short one. */
const maxConnections = 50;

/**
 * Answers the readiness probe. Anybody may connect to its port, so of too many connections the oldest is closed: that
 * of the kubelet is always new.
 */
function answerReadiness(port: number, isReady: () => boolean): void {
    const open = new Set<Socket>();
    createServer({ maxHeaderSize: 4_096 }, ({ url }, response) => {
        response.writeHead(url === readyPath ? (isReady() ? 200 : 503) : 404).end();
    })
        .on("connection", (socket: Socket) => {
            open.add(socket);
            socket.once("close", () => open.delete(socket));
            const [oldest] = open;
            if (open.size > maxConnections) oldest!.destroy();
        })
        .on("error", log)
        .listen(port);
}

// One connection's trouble must not end the others.
process.on("uncaughtException", log);
main().catch((error: unknown) => {
    log(error);
    process.exit(1);
});
