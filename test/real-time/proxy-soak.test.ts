import { once } from "node:events";
import { readFileSync } from "node:fs";
import { Agent, get, type IncomingMessage } from "node:http";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { local, until } from "../support/until";
import { freePorts, readiness, startPod, startProxyProgram } from "./proxy-program";

/** The limit of the proxy's container. */
const memoryBytes = 160 * 1_024 * 1_024;
const perSecond = 200;
const seconds = 10;

/** What a slow caller sends first, and then every 3 s. On a busy machine, answers to others take time, but come. */
const slow: Record<string, { callers: number; first: string; drip?: string; reads?: false }> = {
    "a head without an end": { callers: 400, first: `GET / HTTP/1.1\r\nX: ${"x".repeat(60_000)}`, drip: "x" },
    "a first line of spaces": { callers: 50, first: `GET a${" ".repeat(60_000)}x HTTP/1.1\r\n`, drip: "a" },
    "lines without an end": { callers: 50, first: `GET / HTTP/1.1\r\n${"a\n".repeat(30_000)}`, drip: "a\n" },
    "a chunk's extension without an end": { callers: 300, first: chunked("5;x="), drip: "y" },
    "trailers without an end": { callers: 300, first: chunked("0\r\nX: "), drip: "y\r\nX: " },
    "more than a pod that reads nothing takes": { callers: 50, first: `${put("/stalled")}${"x".repeat(200_000)}` },
    "a request, and reads no answer": { callers: 50, first: "GET /large HTTP/1.1\r\nHost: a\r\n\r\n", reads: false },
    "a request, and keeps its connection": { callers: 300, first: "GET / HTTP/1.1\r\nHost: a\r\n\r\n" },
    nothing: { callers: 500, first: "" },
};

function chunked(body: string): string {
    return `POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${body}`;
}
function put(path: string): string {
    return `PUT ${path} HTTP/1.1\r\nHost: a\r\nContent-Length: 900000000\r\n\r\n`;
}

it("2,000 slow callers take no request of others, and no more memory than the proxy's pod has", async () => {
    const large = Buffer.alloc(2_000_000);
    const pod = await startPod((request, response) => {
        if (request.url === "/stalled") return void request.pause();
        request.resume();
        response.end(request.url === "/large" ? large : "from the pod");
    });
    const [port, readyPort] = (await freePorts(2)) as [number, number];
    const proxy = startProxyProgram(pod, { port, readyPort, fault: { delayMs: 1, percentage: 100 } });
    await until("it is ready", async () => (await readiness(readyPort)) === 200, local);

    let connected = 0;
    const sockets = new Set<Socket>();
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    let over = false;
    for (const { callers, first, drip, reads } of Object.values(slow))
        for (let index = 0; index < callers; index++) void keepSlow(first, drip, reads);
    await until("all are connected", () => connected >= 2_000, { ...local, timeoutMs: 15_000 });

    let peak = 0;
    const memory = setInterval(() => (peak = Math.max(peak, residentBytes(proxy.child.pid!))), 200);
    const agent = new Agent({ keepAlive: true });
    const problems: string[] = [];
    const asked: Promise<unknown>[] = [];
    const begun = performance.now();
    while (asked.length < perSecond * seconds) {
        const due = Math.floor(((performance.now() - begun) / 1_000) * perSecond);
        while (asked.length < Math.min(due, perSecond * seconds))
            asked.push(ask(asked.length % 5 ? agent : undefined).catch((error: Error) => problems.push(error.message)));
        await sleep(5);
    }
    await Promise.all(asked);
    const open = sockets.size;
    over = true;
    clearInterval(memory);
    agent.destroy();
    expect(problems).toEqual([]);
    expect(peak).toBeLessThan(memoryBytes);
    expect(open).toBeGreaterThan(1_000);
    expect(await readiness(readyPort)).toBe(200);
    expect(proxy.child.exitCode).toBeNull();

    /** Comes again some seconds after its connection was closed. */
    async function keepSlow(first: string, drip?: string, reads?: false): Promise<void> {
        for (; !over; await sleep(3_000 + 5_000 * Math.random())) {
            const socket = connect({ host: "127.0.0.1", port, noDelay: true }).on("error", () => {});
            if (reads === false) socket.pause();
            else socket.resume();
            sockets.add(socket);
            socket.write(first, () => connected++);
            const timer = drip && setInterval(() => socket.write(drip), 3_000);
            await new Promise((resolve) => socket.once("close", resolve));
            clearInterval(timer || undefined);
            sockets.delete(socket);
        }
    }

    async function ask(agent?: Agent): Promise<void> {
        const request = get({ host: "127.0.0.1", port, agent: agent ?? false, timeout: 100_000 });
        request.on("timeout", () => request.destroy(new Error("no answer in 100 s")));
        const [response] = (await once(request, "response")) as [IncomingMessage];
        let text = "";
        for await (const part of response) text += String(part);
        if (response.statusCode !== 200 || text !== "from the pod") throw new Error(`${response.statusCode} ${text}`);
    }
}, 120_000);

const residentBytes = (pid: number): number =>
    Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))![1]) * 1_024;
