import { type Figure, measureRounds, median, ratio } from "../figure";
import { connections, fullLoad } from "../load";
import { startProxiedServer } from "../proxied-server";
import type { Session } from "../session";

const rounds = 5;
const warmUpSeconds = 3;
const roundSeconds = 4;

export const proxyThroughput: Figure = {
    name: "proxy-throughput",
    meaning: `requests/s of a bare server compared with the same through the proxy, over ${connections} connections`,
    unit: "ratio",
    async measure(session) {
        const { direct, proxied } = await underLoad(session);
        const list = (all: number[]) => `${median(all).toFixed(0)}/s (${all.map((one) => one.toFixed(0)).join(", ")})`;
        return {
            value: ratio(direct, proxied),
            made: `direct ${list(direct)}, proxied ${list(proxied)}`,
            samples: { direct, proxied },
        };
    },
};

export const proxyMemory: Figure = {
    name: "proxy-memory",
    meaning: `peak memory of the proxy of a fault under full load over ${connections} connections`,
    // 64 MiB.
    bar: 67.1,
    unit: "MB",
    async measure(session) {
        const { peak } = await underLoad(session);
        return {
            value: peak.at(-1)!,
            made: `peak ${peak.map((one) => one.toFixed(1)).join(", ")} MB after ${rounds} rounds`,
            samples: { peak },
        };
    },
};

/** Loads a server directly and through the proxy, in turns. */
async function underLoad(session: Session): Promise<Record<"direct" | "proxied" | "peak", number[]>> {
    const { urls, peakMegabytes, end } = await startProxiedServer();
    try {
        for (const url of Object.values(urls)) await fullLoad(url, warmUpSeconds);
        const rate = async (url: string) => {
            const { perSecond, bad, firstBad } = await fullLoad(url, roundSeconds);
            if (bad > 0) throw new Error(`${bad} requests failed, the first with ${firstBad}`);
            return perSecond;
        };
        return await measureRounds(
            rounds,
            session,
            async () => ({
                direct: await rate(urls.direct),
                proxied: await rate(urls.proxied),
                peak: peakMegabytes(),
            }),
            ({ direct, proxied, peak }) =>
                `direct ${direct.toFixed(0)}/s, proxied ${proxied.toFixed(0)}/s, peak ${peak.toFixed(1)} MB`,
        );
    } finally {
        end();
    }
}
