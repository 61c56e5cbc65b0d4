import type { RequestMatch } from "../../chaos/attacks/fault/proxy/protocol";
import { type Figure, measureRounds, median } from "../figure";
import { steadyLoad } from "../load";
import { startProxiedServer } from "../proxied-server";
import { perSecond, rounds, roundSeconds, warmUp } from "./proxy-median";

/** All requests of the load match, and each field of it must be looked at to know that. */
const match: RequestMatch = {
    path: "/*",
    method: "GET",
    headers: { connection: "keep-alive" },
    except: [{ path: "/healthz" }, { path: "/metrics/*", method: "GET" }],
};

export const matchMedian: Figure = {
    name: "match-median",
    meaning: `what a match adds to the median latency through the proxy of a fault at ${perSecond} requests/s`,
    bar: 0.1,
    unit: "ms",
    async measure(session) {
        const without = await startProxiedServer();
        const matching = await startProxiedServer(match).catch((error: unknown) => {
            without.end();
            throw error;
        });
        try {
            const urls = { without: without.urls.proxied, matching: matching.urls.proxied };
            await warmUp(urls);
            const latency = async (url: string) => median(await steadyLoad(url, perSecond, roundSeconds));
            const samples = await measureRounds(rounds, session, async () => ({
                without: await latency(urls.without),
                matching: await latency(urls.matching),
            }));
            return { value: median(samples.matching) - median(samples.without), samples };
        } finally {
            without.end();
            matching.end();
        }
    },
};
