import { startBareServer } from "../bareServer";
import { gatewayUrl } from "../cluster";
import { type Figure, median, ratio } from "../figure";
import { connections, fullLoad } from "../load";
import { namespaces, type Session } from "../session";

const rounds = 3;
const warmUpSeconds = 3;
const roundSeconds = 6;

export function gatewayThroughput(session: Session): Figure {
    return {
        name: "gateway-throughput",
        meaning: `requests per second that a bare Node server merges over ${connections} connections, against the gateway's /products`,
        bar: 2,
        unit: "ratio",
        async measure() {
            await session.runningShop();
            const bare = await startBareServer(session);
            try {
                const sides = { bare: bare.url, gateway: await gatewayUrl(session.cluster, namespaces.shop) };
                const samples: Record<keyof typeof sides, number[]> = { bare: [], gateway: [] };
                for (const url of Object.values(sides)) await fullLoad(url, warmUpSeconds);
                for (let round = 1; round <= rounds; round++) {
                    for (const side of ["bare", "gateway"] as const) {
                        const { perSecond, bad, firstBad } = await fullLoad(sides[side], roundSeconds);
                        if (bad > 0) throw new Error(`the ${side} server failed ${bad} times, first with ${firstBad}`);
                        samples[side].push(perSecond);
                    }
                    session.say(
                        `round ${round} of ${rounds}: bare ${samples.bare.at(-1)!.toFixed(0)}/s, gateway ${samples.gateway.at(-1)!.toFixed(0)}/s`,
                    );
                }
                const told = (side: keyof typeof sides) =>
                    `${median(samples[side]).toFixed(0)}/s (${samples[side].map((each) => each.toFixed(0)).join(", ")})`;
                return {
                    value: ratio(samples.bare, samples.gateway),
                    made: `bare ${told("bare")}, gateway ${told("gateway")}`,
                    samples,
                };
            } finally {
                await bare.remove();
            }
        },
    };
}
