import { startBareServer } from "../bare-server";
import { gatewayUrl } from "../cluster";
import { type Figure, measureRounds, ratio } from "../figure";
import { connections, fullLoad, goodLoad, warmUp } from "../load";
import { namespaces } from "../session";

export const gatewayThroughput: Figure = {
    name: "gateway-throughput",
    meaning: `requests/s of a bare Node server compared with the gateway, over ${connections} connections`,
    bar: 2,
    unit: "ratio",
    samplesIn: "/s",
    async measure(session) {
        await session.runningShop();
        const bare = await startBareServer(session);
        try {
            const gateway = await gatewayUrl(session.cluster, namespaces.shop);
            await warmUp([bare.url, gateway], 3);
            const rate = async (url: string) => (await goodLoad(fullLoad(url, 6))).perSecond;
            const samples = await measureRounds(3, session, async () => ({
                bare: await rate(bare.url),
                gateway: await rate(gateway),
            }));
            return { value: ratio(samples.bare, samples.gateway), samples };
        } finally {
            await bare.remove();
        }
    },
};
