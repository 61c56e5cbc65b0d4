import { randomUUID } from "node:crypto";
import { gatewayUrl } from "../cluster";
import type { Figure } from "../figure";
import { connections } from "../load";
import { describePods, loadSeconds, memoryUnderLoad } from "../pod-memory";
import { namespaces } from "../session";

/** Programs of other projects: reported, but without a limit. */
const others = ["database", "message-broker"];

export const orderMemory: Figure = {
    name: "order-memory",
    meaning: `largest resident memory of the project's own pods, at ${connections} connections to /orders`,
    bar: 120,
    unit: "MB",
    async measure(session) {
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
        const ordersUrl = url.replace(/products$/, "orders");
        const { load, pods, samples } = await memoryUnderLoad(session, namespaces.shop, ordersUrl, next);
        const { latencies, bad, firstBad } = load;
        if (bad > 0) throw new Error(`${bad} orders were not accepted, the first with ${firstBad}`);
        return {
            value: pods.find(({ workload }) => !others.includes(workload))!.megabytes,
            made: `${describePods(pods)} MB after ${latencies.length} orders`,
            samples,
        };
    },
};

async function productIds(url: string): Promise<string[]> {
    const { fashionResponse, toysResponse, hotDealsResponse } = (await (await fetch(url)).json()) as Record<
        string,
        { products: { id: string }[] }
    >;
    return [fashionResponse, toysResponse, hotDealsResponse].flatMap((response) =>
        response!.products.map(({ id }) => id),
    );
}

/** Orders of one product each, all products in turn. */
function orderMessages(productIds: string[]) {
    let count = 0;
    return () => ({
        method: "POST",
        headers: { "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
        body: JSON.stringify({ items: [{ productId: productIds[count++ % productIds.length], quantity: 1 }] }),
    });
}
