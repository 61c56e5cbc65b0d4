import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** What a load came to. */
export interface Load {
    /** Answers of status 200 in a second. */
    perSecond: number;
    /** How long each good answer took, in milliseconds. */
    latencies: number[];
    /** Other answers, and requests that got none. */
    bad: number;
}

/** How many connections, which are kept, carry a load. */
export const connections = 16;

/** As many requests as the connections carry: on each the next is sent when the last was answered. */
export function fullLoad(url: string, seconds: number): Promise<Load> {
    return load(url, seconds, async (ask, goesOn) => {
        const one = async () => {
            while (goesOn()) await ask(performance.now());
        };
        await Promise.all(Array.from({ length: connections }, one));
    });
}

/**
 * Requests at a steady rate, sent when they are due whatever became of those before. Latencies count from when they were
 * due: else a stall would hide in requests that it kept from being sent.
 */
export function steadyLoad(url: string, perSecond: number, seconds: number): Promise<Load> {
    return load(url, seconds, async (ask, goesOn) => {
        const begun = performance.now();
        const asked: Promise<void>[] = [];
        while (goesOn()) {
            for (let due = begun + (asked.length * 1_000) / perSecond; due <= performance.now(); due += 1_000 / perSecond) asked.push(ask(due));
            await sleep(1);
        }
        await Promise.all(asked);
    });
}

type Drive = (ask: (due: number) => Promise<void>, goesOn: () => boolean) => Promise<void>;

async function load(url: string, seconds: number, drive: Drive): Promise<Load> {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    const latencies: number[] = [];
    let bad = 0;
    const begun = performance.now();
    const goesOn = () => performance.now() - begun < seconds * 1_000;
    const ask = (due: number) =>
        new Promise<void>((resolve) => {
            const fail = () => {
                bad++;
                setTimeout(resolve, 50);
            };
            get(url, { agent }, (response) => {
                if (response.statusCode !== 200) {
                    response.resume().on("close", fail);
                    return;
                }
                response.resume().on("end", () => {
                    latencies.push(performance.now() - due);
                    resolve();
                });
            }).on("error", fail);
        });
    await drive(ask, goesOn);
    agent.destroy();
    if (latencies.length === 0) throw new Error(`${url} was not answered well once under load`);
    return { perSecond: latencies.length / ((performance.now() - begun) / 1_000), latencies, bad };
}

/** The value that so many percent of the samples do not exceed. */
export function percentile(samples: readonly number[], percent: number): number {
    if (samples.length === 0) throw new Error("there is no percentile of no samples");
    const sorted = [...samples].sort((a, b) => a - b);
    return sorted[Math.ceil((percent / 100) * sorted.length) - 1]!;
}
