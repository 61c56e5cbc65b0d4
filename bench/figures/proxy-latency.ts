import type { RequestMatch } from "../../chaos/kinds/attacks/fault/proxy/protocol";
import { type Figure, type Measurement, measureRounds, median } from "../figure";
import { steadyLoad } from "../load";
import { startProxiedServer } from "../proxied-server";
import type { Session } from "../session";

/** Far below what the proxy can do: the figures are the time of its own work, not that of a queue. */
const perSecond = 200;

/** All requests of the load match, and each field of it must be looked at to know that. */
const match: RequestMatch = {
    path: "/*",
    method: "GET",
    headers: { connection: "keep-alive" },
    except: [{ path: "/healthz" }, { path: "/metrics/*", method: "GET" }],
};

export const proxyMedian: Figure = {
    name: "proxy-median",
    meaning: `what the proxy of a fault adds to a bare server's median latency at ${perSecond} requests/s`,
    bar: 1,
    unit: "ms",
    async measure(session) {
        const { urls, end } = await startProxiedServer();
        return addedLatency(session, urls).finally(end);
    },
};

export const matchMedian: Figure = {
    name: "match-median",
    meaning: `what a match adds to the median latency through the proxy of a fault at ${perSecond} requests/s`,
    bar: 0.1,
    unit: "ms",
    async measure(session) {
        const without = await startProxiedServer();
        try {
            const matching = await startProxiedServer(match);
            const urls = { without: without.urls.proxied, matching: matching.urls.proxied };
            return await addedLatency(session, urls).finally(matching.end);
        } finally {
            without.end();
        }
    },
};

/** What the second of two servers adds to the median latency of the first. */
async function addedLatency(session: Session, urls: Record<string, string>): Promise<Measurement> {
    const servers = Object.entries(urls);
    // V8 compiles the hot functions of new programs.
    for (const [, url] of servers) await steadyLoad(url, 2_000, 3);
    const samples = await measureRounds(9, session, async () => {
        const latencies: Record<string, number> = {};
        for (const [name, url] of servers) latencies[name] = median(await steadyLoad(url, perSecond, 3));
        return latencies;
    });
    const [before, after] = Object.values(samples).map(median);
    return { value: after! - before!, samples };
}
