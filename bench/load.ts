import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** What a load came to. */
export interface Load {
    /** Good answers, of a status from 200 to 299, in a second. */
    perSecond: number;
    /** How long each good answer took, in milliseconds. */
    latencies: number[];
    /** Other answers, and requests that got none. */
    bad: number;
    /** What the first of them was: a status and what came with it, or an error. */
    firstBad?: string;
}

/** How many connections, which are kept, carry a load. */
export const connections = 16;

/** What is sent. */
export interface Message {
    method: string;
    headers: Record<string, string>;
    body: string;
}

const get = (): Message => ({ method: "GET", headers: {}, body: "" });

/**
 * As many requests as the connections carry: on each the next is sent when the last was answered.
 *
 * @param next makes the next request @default a GET without a body
 */
export function fullLoad(url: string, seconds: number, next: () => Message = get): Promise<Load> {
    return load(url, seconds, next, async (ask, goesOn) => {
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
    return load(url, seconds, get, async (ask, goesOn) => {
        const begun = performance.now();
        const asked: Promise<void>[] = [];
        while (goesOn()) {
            const due = begun + (asked.length * 1_000) / perSecond;
            // To wake up for nothing would take from the processors that it measures.
            if (due > performance.now()) await sleep(due - performance.now());
            else asked.push(ask(due));
        }
        await Promise.all(asked);
    });
}

type Drive = (ask: (due: number) => Promise<void>, goesOn: () => boolean) => Promise<void>;

async function load(url: string, seconds: number, next: () => Message, drive: Drive): Promise<Load> {
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
            const { method, headers, body } = next();
            const asked = request(url, { agent, method, headers }, (response) => {
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
            asked.on("error", (error) => fail(String(error))).end(body);
        });
    await drive(ask, goesOn);
    agent.destroy();
    if (latencies.length === 0) throw new Error(`${url} was not answered well once under load`);
    return { perSecond: latencies.length / ((performance.now() - begun) / 1_000), latencies, bad, firstBad };
}

/** The value that so many percent of the samples do not exceed. */
export function percentile(samples: readonly number[], percent: number): number {
    if (samples.length === 0) throw new Error("there is no percentile of no samples");
    const sorted = [...samples].sort((a, b) => a - b);
    return sorted[Math.ceil((percent / 100) * sorted.length) - 1]!;
}
