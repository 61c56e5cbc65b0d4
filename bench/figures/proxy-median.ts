import { type Figure, measureRounds, median } from "../figure";
import { steadyLoad } from "../load";
import { startProxiedServer } from "../proxied-server";

export const rounds = 9;
export const roundSeconds = 3;
/** Far below what the proxy can do: the figure is the time of its own work, not that of a queue. */
export const perSecond = 200;

/** V8 compiles the hot functions of new programs. */
export async function warmUp(urls: Record<string, string>): Promise<void> {
    for (const url of Object.values(urls)) await steadyLoad(url, 2_000, 3);
}

export const proxyMedian: Figure = {
    name: "proxy-median",
    meaning: `what the proxy of a fault adds to a bare server's median latency at ${perSecond} requests/s`,
    bar: 1,
    unit: "ms",
    async measure(session) {
        const { urls, end } = await startProxiedServer();
        try {
            await warmUp(urls);
            const latency = async (url: string) => median(await steadyLoad(url, perSecond, roundSeconds));
            const samples = await measureRounds(rounds, session, async () => ({
                direct: await latency(urls.direct),
                proxied: await latency(urls.proxied),
            }));
            return { value: median(samples.proxied) - median(samples.direct), samples };
        } finally {
            end();
        }
    },
};
