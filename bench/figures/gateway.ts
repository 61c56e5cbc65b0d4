import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startBareServer } from "../bare-server";
import { backendUrls, gatewayUrl, openBackends } from "../cluster";
import { type Figure, measureRounds, median, ratio } from "../figure";
import { connections, fullLoad, goodLoad, percentile, steadyLoad, warmUp } from "../load";
import { namespaces } from "../session";

export const gatewayThroughput: Figure = {
    name: "gateway-throughput",
    meaning: `requests/s of a bare Node server compared with the gateway, over ${connections} connections`,
    bar: 2,
    unit: "ratio",
    samplesIn: "/s",
    async measure(session) {
        await session.runningShop();
        const bare = await startBareServer(session);
        try {
            const gateway = await gatewayUrl(session.cluster, namespaces.shop);
            await warmUp([bare.url, gateway], 3);
            const rate = async (url: string) => (await goodLoad(fullLoad(url, 6))).perSecond;
            const samples = await measureRounds(3, session, async () => ({
                bare: await rate(bare.url),
                gateway: await rate(gateway),
            }));
            return { value: ratio(samples.bare, samples.gateway), samples };
        } finally {
            await bare.remove();
        }
    },
};

/**
 * Many and short rounds: a virtual machine's speed may halve within a second, and a round's result is two thirds of the
 * median to twice the median. Medians of 9 rounds were 3.2 to 5.1, that of all rounds 4.1: noise, so the figure has no
 * limit.
 */
const latencyRounds = 21;
/** Between samples of the backends: a higher rate would be a load itself. */
const pauseMs = 150;

export const gatewayLatency: Figure = {
    name: "gateway-latency",
    meaning: "p99 of the gateway's /products under half its maximum load, compared with the slowest backend's p50",
    unit: "ratio",
    samplesIn: "ms",
    async measure(session) {
        await session.runningShop();
        const backends = await backendUrls(session.cluster, namespaces.shop);
        const closeBackends = await openBackends(session.cluster, namespaces.shop);
        try {
            const url = await gatewayUrl(session.cluster, namespaces.shop);
            // Time for V8 to compile the hot functions.
            await warmUp([url], 30);
            const samples = await measureRounds(latencyRounds, session, () => measureLatency(url, backends));
            return { value: median(samples.p99.map((p99, round) => p99 / samples["backend's p50"][round]!)), samples };
        } finally {
            await closeBackends();
        }
    },
};

/** One round, at half of a server's maximum rate. The backend's p99 shows the machine's share of the server's. */
async function measureLatency(url: string, backends: string[]) {
    const perSecond = (await fullLoad(url, 3)).perSecond / 2;
    // Queues and memory recover from the full load.
    await steadyLoad(url, perSecond, 1);
    const load = goodLoad(steadyLoad(url, perSecond, 4));
    const [{ latencies }, samples] = await Promise.all([load, sample(backends, load)]);
    const slowest = samples.reduce((a, b) => (percentile(b, 50) > percentile(a, 50) ? b : a));
    return {
        p99: percentile(latencies, 99),
        "backend's p50": percentile(slowest, 50),
        "backend's p99": percentile(slowest, 99),
    };
}

/**
 * Samples of each backend's latency in milliseconds, until `ended`. Like the gateway, requests all backends at once
 * over new connections: they share the processors then.
 */
async function sample(urls: string[], ended: Promise<unknown>): Promise<number[][]> {
    let goesOn = true;
    const stop = () => (goesOn = false);
    void ended.then(stop, stop);
    const latencies: number[][] = urls.map(() => []);
    while (goesOn) {
        await Promise.all(urls.map(async (url, index) => latencies[index]!.push(await timeToAnswer(url))));
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
