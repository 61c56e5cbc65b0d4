import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { backendUrls, gatewayUrl } from "../cluster";
import type { Figure } from "../figure";
import { fullLoad, percentile, steadyLoad } from "../load";
import { namespaces, type Session } from "../session";

const findMaximumSeconds = 6;
const seconds = 20;
const pauseMs = 20;

export function gatewayLatency(session: Session): Figure {
    return {
        name: "gateway-latency",
        meaning: "p99 of the gateway's /products under half the load that it can bear, against the slowest backend's p50 meanwhile",
        bar: 5,
        unit: "ratio",
        async measure() {
            await session.runningShop();
            const url = await gatewayUrl(session.cluster, namespaces.shop);
            const { perSecond } = await fullLoad(url, findMaximumSeconds);
            const backends = await backendUrls(session.cluster, namespaces.shop);
            session.say(`asking for ${seconds} s at half of ${perSecond.toFixed(0)} requests a second`);
            const loaded = steadyLoad(url, perSecond / 2, seconds);
            const [{ latencies, bad }, ...asked] = await Promise.all([loaded, ...Object.values(backends).map((backend) => sample(backend, loaded))]);
            if (bad > 0) throw new Error(`the gateway failed ${bad} times under half its load`);
            const p99 = percentile(latencies, 99);
            const halves = Object.keys(backends).map((name, index) => ({ name, p50: percentile(asked[index]!, 50) }));
            const slowest = halves.reduce((a, b) => (b.p50 > a.p50 ? b : a));
            return {
                value: p99 / slowest.p50,
                made: `p99 ${p99.toFixed(1)} ms (p50 ${percentile(latencies, 50).toFixed(1)} ms) at ${(perSecond / 2).toFixed(0)}/s, ${slowest.name} p50 ${slowest.p50.toFixed(1)} ms`,
                samples: { p99: [p99 / 1_000], ...Object.fromEntries(halves.map(({ name, p50 }) => [name, [p50 / 1_000]])) },
            };
        },
    };
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
