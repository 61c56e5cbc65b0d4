import { request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { startBareServer } from "../bareServer";
import { backendUrls, gatewayUrl } from "../cluster";
import { type Figure, median } from "../figure";
import { fullLoad, percentile, steadyLoad } from "../load";
import { namespaces, type Session } from "../session";

/**
 * Many and short: a virtual machine may be half as fast from one second to the next, whatever it does itself, and a round comes
 * to between two thirds of the median and twice as much. Medians of nine rounds were 3.2 to 5.1 where that of all was 4.1.
 */
const rounds = 21;
/** The bare server is there to compare with. */
const roundsPerBare = 3;
/** As long as it takes V8 to compile what programs that have just started do most. */
const warmUpSeconds = 30;
const fullSeconds = 3;
const halfSeconds = 4;
/** Between samples: more of them would be a load of their own. */
const pauseMs = 150;
/** What the full load has left behind, in queues and in memory, is gone after that. */
const restSeconds = 1;

/** One round, at half of a server's maximum. Times are in milliseconds. */
interface Round {
    perSecond: number;
    p99: number;
    /** Its p99 tells how much of the server's is the machine's. */
    slowest: { name: string; p50: number; p99: number };
}

export function gatewayLatency(session: Session): Figure {
    return {
        name: "gateway-latency",
        meaning:
            "p99 of the gateway's /products under half the load that it can bear, against the slowest backend's p50 meanwhile; beside it what a bare Node server comes to in the gateway's place",
        bar: 5,
        unit: "ratio",
        async measure() {
            await session.runningShop();
            const backends = await backendUrls(session.cluster, namespaces.shop);
            const bare = await startBareServer(session);
            try {
                const sides = { gateway: await gatewayUrl(session.cluster, namespaces.shop), bare: bare.url };
                const results: Record<keyof typeof sides, Round[]> = { gateway: [], bare: [] };
                for (const url of Object.values(sides)) await fullLoad(url, warmUpSeconds);
                for (let round = 1; round <= rounds; round++) {
                    for (const side of round % roundsPerBare === 0
                        ? (["gateway", "bare"] as const)
                        : (["gateway"] as const)) {
                        const result = await measureRound(sides[side], backends);
                        results[side].push(result);
                        session.say(`round ${round} of ${rounds}, ${side}: ${describeRound(result)}`);
                    }
                }
                const told = (side: keyof typeof sides) =>
                    `${median(results[side].map(ratioOf)).toFixed(2)} (${results[side].map((round) => ratioOf(round).toFixed(2)).join(", ")})`;
                return {
                    value: median(results.gateway.map(ratioOf)),
                    made: `gateway ${told("gateway")}, bare ${told("bare")}; in the gateway's last round ${describeRound(results.gateway.at(-1)!)}`,
                    samples: {
                        p99: results.gateway.map(({ p99 }) => p99 / 1_000),
                        slowest: results.gateway.map(({ slowest }) => slowest.p50 / 1_000),
                    },
                };
            } finally {
                await bare.remove();
            }
        },
    };
}

const ratioOf = ({ p99, slowest }: Round) => p99 / slowest.p50;

function describeRound({ perSecond, p99, slowest }: Round): string {
    return `p99 ${p99.toFixed(1)} ms at ${perSecond.toFixed(0)} requests a second, ${slowest.name} p50 ${slowest.p50.toFixed(1)} ms and p99 ${slowest.p99.toFixed(1)} ms`;
}

async function measureRound(url: string, backends: Record<string, string>): Promise<Round> {
    const perSecond = (await fullLoad(url, fullSeconds)).perSecond / 2;
    await steadyLoad(url, perSecond, restSeconds);
    const load = steadyLoad(url, perSecond, halfSeconds);
    const [{ latencies, bad, firstBad }, samples] = await Promise.all([load, sample(backends, load)]);
    if (bad > 0) throw new Error(`${url} failed ${bad} times under half its load, first with ${firstBad}`);
    const medians = Object.entries(samples).map(([name, answers]) => ({
        name,
        p50: percentile(answers, 50),
        p99: percentile(answers, 99),
    }));
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
        await Promise.all(
            Object.entries(urls).map(async ([name, url]) => latencies[name]!.push(await timeToAnswer(url))),
        );
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
