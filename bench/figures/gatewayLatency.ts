import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { backendUrls, gatewayUrl } from "../cluster";
import { type Figure, median } from "../figure";
import { fullLoad, percentile, steadyLoad } from "../load";
import { namespaces, type Session } from "../session";

const rounds = 3;
const fullSeconds = 6;
const halfSeconds = 8;
const pauseMs = 20;

/** One round: the gateway's maximum, and half of it. Times are in milliseconds. */
interface Round {
    perSecond: number;
    p99: number;
    slowest: { name: string; p50: number };
}

export function gatewayLatency(session: Session): Figure {
    return {
        name: "gateway-latency",
        meaning: "p99 of the gateway's /products under half the load that it can bear, against the slowest backend's p50 meanwhile",
        bar: 5,
        unit: "ratio",
        async measure() {
            await session.runningShop();
            const results: Round[] = [];
            for (let round = 1; round <= rounds; round++) results.push(await measureRound(session));
            const told = results.map(({ perSecond, p99, slowest }) => `p99 ${p99.toFixed(1)} ms at ${perSecond.toFixed(0)}/s, ${slowest.name} p50 ${slowest.p50.toFixed(1)} ms`);
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
    const backends = Object.entries(await backendUrls(cluster, namespaces.shop));
    const perSecond = (await fullLoad(url, fullSeconds)).perSecond / 2;
    say(`asking for ${halfSeconds} s at ${perSecond.toFixed(0)} requests a second`);
    const load = steadyLoad(url, perSecond, halfSeconds);
    const asked = Promise.all(backends.map(async ([name, backend]) => ({ name, p50: percentile(await sample(backend, load), 50) })));
    const [{ latencies, bad }, medians] = await Promise.all([load, asked]);
    if (bad > 0) throw new Error(`the gateway failed ${bad} times under half its load`);
    return { perSecond, p99: percentile(latencies, 99), slowest: medians.reduce((a, b) => (b.p50 > a.p50 ? b : a)) };
}

/** How long a backend takes to answer over a fresh connection, as the gateway asks it, again and again until `ended`; in milliseconds. */
async function sample(url: string, ended: Promise<unknown>): Promise<number[]> {
    let goesOn = true;
    const stop = () => (goesOn = false);
    void ended.then(stop, stop);
    const latencies: number[] = [];
    while (goesOn) {
        const begun = performance.now();
        await new Promise<void>((resolve, reject) => {
            request(url, { agent: false }, (response) => response.resume().on("end", resolve)).on("error", reject).end();
        });
        latencies.push(performance.now() - begun);
        await sleep(pauseMs);
    }
    return latencies;
}
