import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { podsOf } from "../../../cli/shop";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { itInAll } from "../which-tests";
import { quick, TestStack } from "./support";
import { until } from "../../support/until";

/** Long enough for what is done while something is isolated. */
const lasting = { ...quick, "experiment.enabled": "true", "experiment.duration": "8s" };

let stack: TestStack;
let gateway: string;
let podsOfFour: string[];
beforeAll(async () => {
    stack = await TestStack.open("e2e-orders");
    // So that a killed pod of the database loses nothing, too.
    const { outputs } = await stack.up({ "database.storage": "256Mi", "storage.keep": "false" });
    gateway = `http://${(outputs.gateway!.value as { host: string }).host}`;
    podsOfFour = (await podsOf(stack.cluster, stack.namespace)).map(({ name }) => name).sort();
});
afterAll(async () => {
    await offerRoom(false);
    await stack.close();
});

type Item = { productId: string; quantity: number };

/** A resource that the node does not have and that new pods of the namespace request: the node is too small. */
const room = "chaos-shop.example/room";

/** Makes the node large enough, or as it was. */
async function offerRoom(offered: boolean): Promise<void> {
    const { items } = await stack.cluster.core.listNode();
    const amount = offered ? "100" : null;
    const body = { status: { capacity: { [room]: amount }, allocatable: { [room]: amount } } };
    await stack.cluster.core.patchNodeStatus(
        { name: items[0]!.metadata!.name!, body },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
}

/** Sends an order as a customer does who wants to be sure: again with the same key, until it is accepted. */
async function place(items: Item[]): Promise<string> {
    const headers = { "content-type": "application/json", "idempotency-key": randomUUID() };
    const giveUpAt = Date.now() + 90_000;
    for (;;) {
        const response = await fetch(`${gateway}/orders`, {
            method: "POST",
            headers,
            body: JSON.stringify({ items }),
        }).catch(() => undefined);
        if (response?.status === 202) return ((await response.json()) as { id: string }).id;
        await response?.arrayBuffer();
        if (Date.now() > giveUpAt)
            throw new Error(`an order was not accepted for 90 s; the last answer: ${response?.status}`);
        await sleep(100);
    }
}

async function stock(): Promise<Map<string, number>> {
    // NetworkPolicies deny it to everybody else. What the API server asks comes from the pod's own node here.
    const path = `/api/v1/namespaces/${stack.namespace}/services/inventory:main/proxy/stock`;
    const { stock } = JSON.parse(await kubectl(["get", "--raw", path])) as { stock: Item[] };
    return new Map(stock.map(({ productId, quantity }) => [productId, quantity]));
}

async function stateOf(id: string): Promise<string> {
    const response = await fetch(`${gateway}/orders/${id}`);
    return ((await response.json()) as { state: string }).state;
}

async function killPodOf(workload: string): Promise<void> {
    await stack.cluster.core.deleteCollectionNamespacedPod({
        namespace: stack.namespace,
        labelSelector: `app=${workload}`,
        gracePeriodSeconds: 0,
    });
}

it("variant four rejects orders, and says how to enable them", async () => {
    const response = await fetch(`${gateway}/orders`, { method: "POST", body: "{}" });
    expect(response.status).toBe(404);
    expect(((await response.json()) as { detail: string }).detail).toContain("pulumi config set variant seven");
});

describe("variant seven", () => {
    it("on a node without room says which workload waits for what, and the rest of the shop works", async () => {
        const limit = { _default: { [room]: "1" }, defaultRequest: { [room]: "1" }, type: "Container" };
        await stack.cluster.core.createNamespacedLimitRange({
            namespace: stack.namespace,
            body: { metadata: { name: "small" }, spec: { limits: [limit] } },
        });
        const { outputs } = await stack.up({ variant: "seven", "orders.readyTimeout": "3s" });
        for (const workload of ["orders", "inventory", "message-broker"]) {
            expect(stack.said).toMatch(
                new RegExp(`${workload} is Pending: no node takes it: .*Insufficient ${room}.*Make room.*pulumi up`),
            );
        }
        expect((outputs.workloads!.value as Record<string, string>).orders).toMatch(/^0 of 1 ready: orders is Pending/);
        expect((await stack.products()).good).toBe(true);
    });

    it("is complete after the next update once there is room", async () => {
        await offerRoom(true);
        await until("they run", async () => (await podsOf(stack.cluster, stack.namespace)).every(({ ready }) => ready));
        const { outputs } = await stack.up();
        for (const how of Object.values(outputs.workloads!.value as Record<string, string>))
            expect(how).toBe("1 of 1 ready");
        await stack.cluster.core.deleteNamespacedLimitRange({ name: "small", namespace: stack.namespace });
    });
});

itInAll(
    "each of thousands of orders is fulfilled once, though the broker is isolated and pods are killed then and later",
    async () => {
        const before = await stock();
        const products = [...before.keys()];
        const placed: { id: string; items: Item[] }[] = [];
        let placing = true;
        const customer = async (number: number) => {
            for (let turn = 0; placing || turn < 125; turn++) {
                const items = [0, 1].map((which) => ({
                    productId: products[(number + turn + which) % products.length]!,
                    quantity: 1 + (turn % 2),
                }));
                placed.push({ id: await place(items), items });
                // Without it, the customers would take the whole machine from what else runs on it.
                await sleep(50);
            }
        };

        const run = stack.run({ ...lasting, "experiment.name": "message-broker-blackhole" });
        await until("the broker is cut off", async () => stack.said.includes("Proven"));
        const customers = Array.from({ length: 16 }, (_, number) => customer(number));
        for (const workload of ["orders", "inventory"]) {
            await sleep(1_000);
            await killPodOf(workload);
        }
        expect(await run).toMatchObject({ verdict: "PASSED" });
        const acceptedUnderAttack = placed.length;
        expect(acceptedUnderAttack).toBeGreaterThan(100);
        expect(await stateOf(placed.at(-1)!.id)).toBe("ACCEPTED");

        await stack.up({ "experiment.enabled": "false" });
        for (const workload of ["inventory", "orders", "message-broker", "inventory", "database", "orders"]) {
            await killPodOf(workload);
            await sleep(1_000);
        }
        placing = false;
        await Promise.all(customers);
        expect(placed.length).toBeGreaterThan(2_000);

        const fulfilled = async ({ id }: { id: string }) =>
            until(`order ${id} is fulfilled`, async () => (await stateOf(id)) === "FULFILLED");
        for (let first = 0; first < placed.length; first += 16)
            await Promise.all(placed.slice(first, first + 16).map(fulfilled));

        const taken = new Map<string, number>();
        for (const { productId, quantity } of placed.flatMap(({ items }) => items))
            taken.set(productId, (taken.get(productId) ?? 0) + quantity);
        const after = await stock();
        expect(new Set(placed.map(({ id }) => id)).size).toBe(placed.length);
        expect([...after].map(([id, quantity]) => [id, before.get(id)! - quantity])).toEqual(
            [...after].map(([id]) => [id, taken.get(id) ?? 0]),
        );
        console.log(`${acceptedUnderAttack} orders accepted while the broker was cut off`);
        console.log(`${placed.length} orders in all, each fulfilled once`);
    },
);

it("going back to variant four removes orders, inventory and message-broker, and restarts no other pod", async () => {
    const before = (await podsOf(stack.cluster, stack.namespace)).map(({ name }) => name);
    stack.unset("experiment.name");
    const { changes } = await stack.up({ variant: "four" });
    const others = changes.filter(({ op, type }) => op !== "delete" && type !== "pulumi:pulumi:Stack");
    // The gateway no longer calls the Service orders.
    expect(others.map(({ op, type, name }) => `${op} ${type} ${name}`)).toEqual([
        "update kubernetes:networking.k8s.io/v1:NetworkPolicy gateway",
    ]);
    await until(
        "only the pods of variant four are left",
        async () => (await podsOf(stack.cluster, stack.namespace)).length === 5,
    );
    const after = (await podsOf(stack.cluster, stack.namespace)).map(({ name }) => name).sort();
    for (const name of after) expect(before).toContain(name);
    // The database's pod was killed above; all others are those of the beginning.
    expect(after.filter((name) => !name.startsWith("database"))).toEqual(
        podsOfFour.filter((name) => !name.startsWith("database")),
    );
    expect((await stack.products()).good).toBe(true);
});
