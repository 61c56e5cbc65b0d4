import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { askProducts } from "../../experiments/products";
import { askThrough } from "../../chaos/checks/observe";
import type { Figure } from "../figure";

const perSecond = 50;
const lengthMs = 10_000;
/** Longer than the interval: a check that waited for answers would be too slow. */
const answerMs = 60;

export const checkRate: Figure = {
    name: "check-rate",
    meaning:
        `a check's configured and actual rate, the higher one divided by the lower one, ` +
        `at ${perSecond} requests/s of ${answerMs} ms each`,
    bar: 1.02,
    unit: "ratio",
    samplesIn: "/s",
    async measure({ cluster }) {
        const arrivals: number[] = [];
        const server = createServer((_, response) => {
            arrivals.push(performance.now());
            setTimeout(() => response.end("{}"), answerMs);
        }).listen(0, "127.0.0.1");
        await once(server, "listening");
        const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
        try {
            await askThrough(() => askProducts(cluster, { kind: "address", url }, 5_000), lengthMs, 1_000 / perSecond);
        } finally {
            server.close();
        }
        const actual = (arrivals.length - 1) / ((arrivals.at(-1)! - arrivals[0]!) / 1_000);
        return { value: Math.max(actual / perSecond, perSecond / actual), samples: { actual: [actual] } };
    },
};
