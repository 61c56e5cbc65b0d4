import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

const connections = 16;

/**
 * Sends requests at a steady rate over keep-alive connections, without waiting for answers. Latencies count from when a
 * request was due: otherwise a stall would hide the requests that it delayed.
 *
 * @returns the latency of each answer, in milliseconds
 * @throws Error if any request failed, or was answered with another status than 2xx
 */
export async function steadyLoad(url: string, perSecond: number, seconds: number): Promise<number[]> {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const latencies: number[] = [];
    const failures: Error[] = [];
    const asked: Promise<unknown>[] = [];
    const begun = performance.now();
    const ask = (due: number) =>
        askOnce(url, agent).then(
            () => latencies.push(performance.now() - due),
            (error: Error) => failures.push(error),
        );
    while (performance.now() - begun < seconds * 1_000) {
        const due = begun + (asked.length * 1_000) / perSecond;
        // Polling would take processor time from the measured programs.
        if (due > performance.now()) await sleep(due - performance.now());
        else asked.push(ask(due));
    }
    await Promise.all(asked);
    agent.destroy();
    const [first] = failures;
    if (first) throw new Error(`${failures.length} requests failed, the first with ${first.message}`);
    return latencies;
}

function askOnce(url: string, agent: Agent): Promise<void> {
    return new Promise((resolve, reject) => {
        const asked = request(url, { agent }, (response) => {
            const isGood = Math.trunc(response.statusCode! / 100) === 2;
            const status = new Error(`status ${response.statusCode}`);
            response.resume().on("end", () => (isGood ? resolve() : reject(status)));
        });
        asked.on("error", reject).end();
    });
}
