import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { gatewayUrl } from "../cluster";
import type { Figure } from "../figure";
import { connections, fullLoad } from "../load";
import { memoryOfPods } from "../podMemory";
import { namespaces, type Session } from "../session";

/** Long enough for heaps to settle. */
const loadSeconds = 15;
/** Programs of others: told, and not judged. */
const others = ["database", "message-broker"];

export function orderMemory(session: Session): Figure {
    return {
        name: "order-memory",
        meaning: `the largest resident memory of a program of ours in variant seven, while orders are placed over ${connections} connections`,
        bar: 120,
        unit: "MB",
        async measure() {
            const stack = await session.runningShop();
            session.say("adding orders to the shop");
            await stack.set({ variant: "seven" });
            await stack.up();
            const workloads = Object.values(await stack.output<Record<string, string>>("workloads"));
            const waiting = workloads.filter((state) => !/^(\d+) of \1 ready$/.test(state));
            if (waiting.length > 0) throw new Error(waiting.join(" "));
            const url = await gatewayUrl(session.cluster, namespaces.shop);
            const next = orderMessages(await productIds(url));
            session.say(`placing orders over ${connections} connections for ${loadSeconds} s`);
            const [{ latencies, bad, firstBad }, pods] = await Promise.all([
                fullLoad(url.replace(/products$/, "orders"), loadSeconds, next),
                sleep((loadSeconds - 1) * 1_000).then(() =>
                    memoryOfPods(session.cluster, session.context, namespaces.shop),
                ),
            ]);
            if (bad > 0) throw new Error(`${bad} orders were not accepted, the first with ${firstBad}`);
            const largest = pods.sort((a, b) => b.megabytes - a.megabytes);
            return {
                value: largest.find(({ workload }) => !others.includes(workload))!.megabytes,
                made: `${largest.map(({ workload, megabytes }) => `${workload} ${megabytes.toFixed(0)}`).join(", ")} MB after ${latencies.length} orders`,
                samples: Object.fromEntries(pods.map(({ workload, megabytes }) => [workload, [megabytes]])),
            };
        },
    };
}

async function productIds(url: string): Promise<string[]> {
    const { fashionResponse, toysResponse, hotDealsResponse } = (await (await fetch(url)).json()) as Record<
        string,
        { products: { id: string }[] }
    >;
    return [fashionResponse, toysResponse, hotDealsResponse].flatMap((response) =>
        response!.products.map(({ id }) => id),
    );
}

/** One order after another, each of one product, and all products in turn. */
function orderMessages(productIds: string[]) {
    let count = 0;
    return () => ({
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
        body: JSON.stringify({ items: [{ productId: productIds[count++ % productIds.length], quantity: 1 }] }),
    });
}
