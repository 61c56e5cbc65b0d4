import { startBareServer } from "../bare-server";
import { gatewayUrl } from "../cluster";
import { type Figure, measureRounds, median, ratio } from "../figure";
import { connections, fullLoad } from "../load";
import { namespaces } from "../session";

const rounds = 3;
const warmUpSeconds = 3;
const roundSeconds = 6;

export const gatewayThroughput: Figure = {
    name: "gateway-throughput",
    meaning: `requests/s of a bare Node server compared with the gateway, over ${connections} connections`,
    bar: 2,
    unit: "ratio",
    async measure(session) {
        await session.runningShop();
        const bare = await startBareServer(session);
        try {
            const sides = { bare: bare.url, gateway: await gatewayUrl(session.cluster, namespaces.shop) };
            for (const url of Object.values(sides)) await fullLoad(url, warmUpSeconds);
            const rate = async (side: keyof typeof sides) => {
                const { perSecond, bad, firstBad } = await fullLoad(sides[side], roundSeconds);
                if (bad > 0) throw new Error(`the ${side} server failed ${bad} times, first with ${firstBad}`);
                return perSecond;
            };
            const samples = await measureRounds(
                rounds,
                session,
                async () => ({ bare: await rate("bare"), gateway: await rate("gateway") }),
                ({ bare, gateway }) => `bare ${bare.toFixed(0)}/s, gateway ${gateway.toFixed(0)}/s`,
            );
            const rates = (all: readonly number[]) =>
                `${median(all).toFixed(0)}/s (${all.map((each) => each.toFixed(0)).join(", ")})`;
            return {
                value: ratio(samples.bare, samples.gateway),
                made: `bare ${rates(samples.bare)}, gateway ${rates(samples.gateway)}`,
                samples,
            };
        } finally {
            await bare.remove();
        }
    },
};
