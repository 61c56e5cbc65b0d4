import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** The result of a load. */
export interface Load {
    /** Answers with status 2xx per second. */
    perSecond: number;
    /** Latency of each such answer, in milliseconds. */
    latencies: number[];
    /** Number of other answers and failed requests. */
    bad: number;
    /** The first of them: a status and body, or an error. */
    firstBad?: string;
}

/** Number of keep-alive connections of a load. */
export const connections = 16;

/** Sends as many requests as possible: on each connection the next one after the last answer. */
export function fullLoad(url: string, seconds: number): Promise<Load> {
    return load(url, seconds, async (ask, goesOn) => {
        const one = async () => {
            while (goesOn()) await ask(performance.now());
        };
        await Promise.all(Array.from({ length: connections }, one));
    });
}

/**
 * Sends requests at a steady rate, without waiting for answers. Latencies count from when a request was due: otherwise
 * a stall would hide the requests that it delayed.
 */
export function steadyLoad(url: string, perSecond: number, seconds: number): Promise<Load> {
    return load(url, seconds, async (ask, goesOn) => {
        const begun = performance.now();
        const asked: Promise<void>[] = [];
        while (goesOn()) {
            const due = begun + (asked.length * 1_000) / perSecond;
            // Polling would take processor time from the measured programs.
            if (due > performance.now()) await sleep(due - performance.now());
            else asked.push(ask(due));
        }
        await Promise.all(asked);
    });
}

/** @throws Error if a request of a load failed */
export async function goodLoad(load: Promise<Load>): Promise<Load> {
    const { bad, firstBad } = await load;
    if (bad > 0) throw new Error(`${bad} requests failed, the first with ${firstBad}`);
    return load;
}

/** Time for V8 to compile the hot functions of new programs. */
export async function warmUp(urls: readonly string[], seconds: number): Promise<void> {
    for (const url of urls) await fullLoad(url, seconds);
}

type Drive = (ask: (due: number) => Promise<void>, goesOn: () => boolean) => Promise<void>;

async function load(url: string, seconds: number, drive: Drive): Promise<Load> {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const latencies: number[] = [];
    let bad = 0;
    let firstBad: string | undefined;
    const begun = performance.now();
    const goesOn = () => performance.now() - begun < seconds * 1_000;
    const ask = (due: number) =>
        new Promise<void>((resolve) => {
            const fail = (reason: string) => {
                bad++;
                firstBad ??= reason;
                setTimeout(resolve, 50);
            };
            const asked = request(url, { agent }, (response) => {
                if (Math.trunc(response.statusCode! / 100) !== 2) {
                    let answer = "";
                    response
                        .on("data", (chunk) => (answer += chunk))
                        .on("close", () => fail(`${response.statusCode} ${answer}`));
                    return;
                }
                response.resume().on("end", () => {
                    latencies.push(performance.now() - due);
                    resolve();
                });
            });
            asked.on("error", (error) => fail(String(error))).end();
        });
    await drive(ask, goesOn);
    agent.destroy();
    if (latencies.length === 0) throw new Error(`${url} gave no good answer under load`);
    return { perSecond: latencies.length / ((performance.now() - begun) / 1_000), latencies, bad, firstBad };
}

/** The value that `percent` of the samples do not exceed. */
export function percentile(samples: readonly number[], percent: number): number {
    if (samples.length === 0) throw new Error("there is no percentile of no samples");
    const sorted = [...samples].sort((a, b) => a - b);
    return sorted[Math.ceil((percent / 100) * sorted.length) - 1]!;
}
