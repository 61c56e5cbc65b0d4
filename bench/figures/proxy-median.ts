import { type Figure, measureRounds, median } from "../figure";
import { steadyLoad } from "../load";
import { startProxiedServer } from "../proxied-server";

const rounds = 9;
const roundSeconds = 3;
/** Far below what the proxy can do: the figure is the time of its own work, not that of a queue. */
const perSecond = 200;

export const proxyMedian: Figure = {
    name: "proxy-median",
    meaning: `what the proxy of a fault adds to a bare server's median latency at ${perSecond} requests/s`,
    bar: 1,
    unit: "ms",
    async measure(session) {
        const { urls, end } = await startProxiedServer();
        try {
            // V8 compiles the hot functions of new programs.
            for (const url of Object.values(urls)) await steadyLoad(url, 2_000, 3);
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
