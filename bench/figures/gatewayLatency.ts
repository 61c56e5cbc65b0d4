import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { backendUrls, gatewayUrl } from "../cluster";
import { type Figure, median } from "../figure";
import { fullLoad, percentile, steadyLoad } from "../load";
import { namespaces, type Session } from "../session";

const rounds = 5;
/** As long as it takes V8 to compile what programs that have just started do most. */
const warmUpSeconds = 30;
const fullSeconds = 6;
const halfSeconds = 8;
/** Between samples: more of them would be a load of their own. */
const pauseMs = 150;
/** What the full load has left behind, in queues and in memory, is gone after that. */
const restSeconds = 2;

/** One round: the gateway's maximum, and half of it. Times are in milliseconds. */
interface Round {
    perSecond: number;
    p99: number;
    /** Its p99 tells how much of the gateway's is the machine's. */
    slowest: { name: string; p50: number; p99: number };
}

export function gatewayLatency(session: Session): Figure {
    return {
        name: "gateway-latency",
        meaning: "p99 of the gateway's /products under half the load that it can bear, against the slowest backend's p50 meanwhile",
        bar: 5,
        unit: "ratio",
        async measure() {
            await session.runningShop();
            await fullLoad(await gatewayUrl(session.cluster, namespaces.shop), warmUpSeconds);
            const results: Round[] = [];
            for (let round = 1; round <= rounds; round++) results.push(await measureRound(session));
            const told = results.map(({ perSecond, p99, slowest }) => `p99 ${p99.toFixed(1)} ms at ${perSecond.toFixed(0)}/s, ${slowest.name} p50 ${slowest.p50.toFixed(1)} ms and p99 ${slowest.p99.toFixed(1)} ms`);
            return {
                value: median(results.map(({ p99, slowest }) => p99 / slowest.p50)),
                made: told.join("; "),
                samples: { p99: results.map(({ p99 }) => p99 / 1_000), slowest: results.map(({ slowest }) => slowest.p50 / 1_000) },
            };
        },
    };
}

async function measureRound({ cluster, say }: Session): Promise<Round> {
    const url = await gatewayUrl(cluster, namespaces.shop);
    const backends = await backendUrls(cluster, namespaces.shop);
    const perSecond = (await fullLoad(url, fullSeconds)).perSecond / 2;
    await steadyLoad(url, perSecond, restSeconds);
    say(`asking for ${halfSeconds} s at ${perSecond.toFixed(0)} requests a second`);
    const load = steadyLoad(url, perSecond, halfSeconds);
    const [{ latencies, bad, firstBad }, samples] = await Promise.all([load, sample(backends, load)]);
    if (bad > 0) throw new Error(`the gateway failed ${bad} times under half its load, first with ${firstBad}`);
    const medians = Object.entries(samples).map(([name, answers]) => ({ name, p50: percentile(answers, 50), p99: percentile(answers, 99) }));
    return { perSecond, p99: percentile(latencies, 99), slowest: medians.reduce((a, b) => (b.p50 > a.p50 ? b : a)) };
}

/**
 * How long each backend takes to answer, in milliseconds, again and again until `ended`. They are asked as the gateway asks
 * them: over fresh connections, and all at once, since they share the processors then.
 */
async function sample(urls: Record<string, string>, ended: Promise<unknown>): Promise<Record<string, number[]>> {
    let goesOn = true;
    const stop = () => (goesOn = false);
    void ended.then(stop, stop);
    const latencies: Record<string, number[]> = Object.fromEntries(Object.keys(urls).map((name) => [name, []]));
    while (goesOn) {
        await Promise.all(Object.entries(urls).map(async ([name, url]) => latencies[name]!.push(await timeToAnswer(url))));
        await sleep(pauseMs);
    }
    return latencies;
}

async function timeToAnswer(url: string): Promise<number> {
    const begun = performance.now();
    await new Promise<void>((resolve, reject) => {
        request(url, { agent: false }, (response) => response.resume().on("end", resolve)).on("error", reject).end();
    });
    return performance.now() - begun;
}
