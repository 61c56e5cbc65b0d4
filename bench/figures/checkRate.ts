import { createServer } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { askProducts } from "../../experiments/checks/products";
import { askThrough } from "../../experiments/checks/window";
import type { Figure } from "../figure";
import type { Session } from "../session";

const perSecond = 50;
const lengthMs = 10_000;
/** Slower than the interval: a check that waited for its answers would fall behind. */
const answerMs = 60;

export function checkRate({ cluster }: Session): Figure {
    return {
        name: "check-rate",
        meaning: `the rate that the check is asked for against the one that it keeps, whichever is more, at ${perSecond} requests a second of ${answerMs} ms each`,
        bar: 1.02,
        unit: "ratio",
        async measure() {
            const arrivals: number[] = [];
            const server = createServer((_, response) => {
                arrivals.push(performance.now());
                setTimeout(() => response.end("{}"), answerMs);
            }).listen(0, "127.0.0.1");
            await once(server, "listening");
            const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
            try {
                await askThrough(
                    () => askProducts(cluster, { kind: "address", url }, 5_000),
                    lengthMs,
                    1_000 / perSecond,
                );
            } finally {
                server.close();
            }
            const kept = (arrivals.length - 1) / ((arrivals.at(-1)! - arrivals[0]!) / 1_000);
            return {
                value: Math.max(kept / perSecond, perSecond / kept),
                made: `${kept.toFixed(2)} requests a second, ${arrivals.length} in all`,
                samples: { rate: [kept] },
            };
        },
    };
}
