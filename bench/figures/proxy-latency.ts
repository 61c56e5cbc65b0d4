import { type Figure, measureRounds, median } from "../figure";
import { fullLoad, percentile, steadyLoad } from "../load";
import { startProxiedServer } from "../proxied-server";

const rounds = 5;
const warmUpSeconds = 3;
const roundSeconds = 4;
/** Far below what the proxy can do: the figure is the time of its own work, not that of a queue. */
const perSecond = 200;

export const proxyMedian = addedLatency("proxy-median", 50, 1);
export const proxyTail = addedLatency("proxy-tail", 99, 5);

/** What the proxy of the attack `fault` adds to a percentile of a server's latency. */
function addedLatency(name: string, percent: number, bar: number): Figure {
    return {
        name,
        meaning: `what the proxy of a fault adds to a bare server's p${percent} at ${perSecond} requests/s`,
        bar,
        unit: "ms",
        async measure(session) {
            const { urls, end } = await startProxiedServer();
            try {
                for (const url of Object.values(urls)) await fullLoad(url, warmUpSeconds);
                const latency = async (url: string) => {
                    const { latencies, bad, firstBad } = await steadyLoad(url, perSecond, roundSeconds);
                    if (bad > 0) throw new Error(`${bad} requests failed, the first with ${firstBad}`);
                    return percentile(latencies, percent);
                };
                const samples = await measureRounds(
                    rounds,
                    session,
                    async () => ({ direct: await latency(urls.direct), proxied: await latency(urls.proxied) }),
                    ({ direct, proxied }) => `direct ${direct.toFixed(2)} ms, proxied ${proxied.toFixed(2)} ms`,
                );
                const list = (all: number[]) => `${median(all).toFixed(2)} ms (${all.map((one) => one.toFixed(2)).join(", ")})`;
                return {
                    value: median(samples.proxied) - median(samples.direct),
                    made: `direct ${list(samples.direct)}, proxied ${list(samples.proxied)}`,
                    samples,
                };
            } finally {
                end();
            }
        },
    };
}
