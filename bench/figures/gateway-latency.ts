import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startBareServer } from "../bare-server";
import { backendUrls, gatewayUrl } from "../cluster";
import { type Figure, median } from "../figure";
import { fullLoad, percentile, steadyLoad } from "../load";
import { namespaces } from "../session";

/**
 * Many and short: a virtual machine's speed may halve within a second, and a round's result is two thirds of the median
 * to twice the median. Medians of 9 rounds were 3.2 to 5.1, that of all rounds 4.1: noise, so the figure has no limit.
 */
const rounds = 21;
/** The bare server is measured only for comparison. */
const roundsPerBare = 3;
/** Time for V8 to compile the hot functions of a new program. */
const warmUpSeconds = 30;
const fullSeconds = 3;
const halfSeconds = 4;
/** Between samples: a higher rate would be a load itself. */
const pauseMs = 150;
/** Time for queues and memory to recover from the full load. */
const restSeconds = 1;

/** One round, at half of a server's maximum rate. Times are in milliseconds. */
interface Round {
    perSecond: number;
    p99: number;
    /** The slowest backend. Its p99 shows the machine's share of the server's p99. */
    slowest: { name: string; p50: number; p99: number };
}

export const gatewayLatency: Figure = {
    name: "gateway-latency",
    meaning:
        "p99 of the gateway's /products under half its maximum load, compared with the slowest backend's p50; " +
        "the same for a bare Node server",
    unit: "ratio",
    async measure(session) {
        await session.runningShop();
        const backends = await backendUrls(session.cluster, namespaces.shop);
        const bare = await startBareServer(session);
        try {
            const sides = { gateway: await gatewayUrl(session.cluster, namespaces.shop), bare: bare.url };
            const results: Record<keyof typeof sides, Round[]> = { gateway: [], bare: [] };
            for (const url of Object.values(sides)) await fullLoad(url, warmUpSeconds);
            for (let round = 1; round <= rounds; round++) {
                for (const side of round % roundsPerBare === 0
                    ? (["gateway", "bare"] as const)
                    : (["gateway"] as const)) {
                    const result = await measureRound(sides[side], backends);
                    results[side].push(result);
                    session.say(`round ${round} of ${rounds}, ${side}: ${describeRound(result)}`);
                }
            }
            const ratios = (side: keyof typeof sides) => {
                const all = results[side].map(ratioOf);
                return `${median(all).toFixed(2)} (${all.map((each) => each.toFixed(2)).join(", ")})`;
            };
            return {
                value: median(results.gateway.map(ratioOf)),
                made:
                    `gateway ${ratios("gateway")}, bare ${ratios("bare")}; ` +
                    `the gateway's last round: ${describeRound(results.gateway.at(-1)!)}`,
                samples: {
                    p99: results.gateway.map(({ p99 }) => p99 / 1_000),
                    slowest: results.gateway.map(({ slowest }) => slowest.p50 / 1_000),
                },
            };
        } finally {
            await bare.remove();
        }
    },
};

const ratioOf = ({ p99, slowest }: Round) => p99 / slowest.p50;

function describeRound({ perSecond, p99, slowest }: Round): string {
    return (
        `p99 ${p99.toFixed(1)} ms at ${perSecond.toFixed(0)} requests/s, ` +
        `${slowest.name} p50 ${slowest.p50.toFixed(1)} ms and p99 ${slowest.p99.toFixed(1)} ms`
    );
}

async function measureRound(url: string, backends: Record<string, string>): Promise<Round> {
    const perSecond = (await fullLoad(url, fullSeconds)).perSecond / 2;
    await steadyLoad(url, perSecond, restSeconds);
    const load = steadyLoad(url, perSecond, halfSeconds);
    const [{ latencies, bad, firstBad }, samples] = await Promise.all([load, sample(backends, load)]);
    if (bad > 0) throw new Error(`${url} failed ${bad} times under half its maximum load, first with ${firstBad}`);
    const medians = Object.entries(samples).map(([name, answers]) => ({
        name,
        p50: percentile(answers, 50),
        p99: percentile(answers, 99),
    }));
    return { perSecond, p99: percentile(latencies, 99), slowest: medians.reduce((a, b) => (b.p50 > a.p50 ? b : a)) };
}

/**
 * Samples of each backend's latency in milliseconds, until `ended`. Like the gateway, requests all backends at once
 * over new connections: they share the processors then.
 */
async function sample(urls: Record<string, string>, ended: Promise<unknown>): Promise<Record<string, number[]>> {
    let goesOn = true;
    const stop = () => (goesOn = false);
    void ended.then(stop, stop);
    const latencies: Record<string, number[]> = Object.fromEntries(Object.keys(urls).map((name) => [name, []]));
    while (goesOn) {
        await Promise.all(
            Object.entries(urls).map(async ([name, url]) => latencies[name]!.push(await timeToAnswer(url))),
        );
        await sleep(pauseMs);
    }
    return latencies;
}

async function timeToAnswer(url: string): Promise<number> {
    const begun = performance.now();
    await new Promise<void>((resolve, reject) => {
        request(url, { agent: false }, (response) => response.resume().on("end", resolve))
            .on("error", reject)
            .end();
    });
    return performance.now() - begun;
}
