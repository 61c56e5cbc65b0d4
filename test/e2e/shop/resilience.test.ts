import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { dropPackets } from "../../../sandbox/test/support/drop";
import { marked, partsOf } from "../../support/listing";
import { quick, TestStack, until } from "./support";

let stack: TestStack;
let products: string;
beforeAll(async () => {
    stack = await TestStack.open("e2e-resilience");
    products = (await stack.up()).outputs.productsUrl!.value as string;
});
afterAll(() => stack.close());

async function ask(pattern: string) {
    const begun = performance.now();
    const response = await fetch(`${products}${pattern}`);
    const body = (await response.json()) as Record<string, any>;
    return { status: response.status, body, seconds: (performance.now() - begun) / 1_000 };
}

/** How many timeouts of 2 s each pattern waits for a backend that hangs. */
const timeouts = { "/exception": 3, "/timeout": 1, "/retry": 3, "/parallel": 1 };
const circuitCloses = () =>
    until(
        "the circuit is closed",
        async () => (await ask("/circuitbreaker")).body.statusHotDeals === "REMOTE_SERVICE",
        15_000,
    );

describe("while hot-deals is isolated by an experiment, on a network that refuses connections", () => {
    beforeAll(async () => {
        await stack.up({ ...quick, "experiment.enabled": "true" });
    });

    it("/products fails as a whole, and at once", async () => {
        const { status, body, seconds } = await ask("");
        expect([status, body.backend]).toEqual([502, "hot-deals"]);
        expect(seconds).toBeLessThan(1);
    });

    it.each(Object.keys(timeouts))("/products%s lists the other two and marks it, within a second", async (pattern) => {
        const answer = await ask(pattern);
        expect(partsOf(answer)).toEqual(marked("UNREACHABLE"));
        expect(answer.seconds).toBeLessThan(1);
    });

    it("/products/circuitbreaker does so too, and soon stops calling hot-deals", async () => {
        expect(partsOf(await ask("/circuitbreaker"))).toEqual(marked("UNREACHABLE"));
        await ask("/circuitbreaker");
        expect(partsOf(await ask("/circuitbreaker"))).toEqual(marked("CIRCUIT_OPEN"));
    });

    it("every pattern lists all backends again after the experiment", async () => {
        await stack.up({ "experiment.enabled": "false" });
        for (const pattern of ["", ...Object.keys(timeouts)])
            expect((await ask(pattern)).body.statusHotDeals).toBe("REMOTE_SERVICE");
        await circuitCloses();
    });
});

describe("while the gateway cannot reach hot-deals, on a network that drops packets", () => {
    let heal: () => Promise<void>;
    beforeAll(async () => {
        const { items } = await stack.cluster.core.listNamespacedPod({ namespace: stack.namespace });
        const addressOf = (workload: string) =>
            items.find(({ metadata }) => metadata!.labels!.app === workload)!.status!.podIP!;
        heal = await dropPackets(addressOf("gateway"), addressOf("hot-deals"));
    });
    afterAll(() => heal?.());

    it("/products fails as a whole after its timeout", async () => {
        const { status, body, seconds } = await ask("");
        expect([status, body.backend]).toEqual([504, "hot-deals"]);
        expect(seconds).toBeLessThan(3);
    });

    it.each(Object.entries(timeouts))(
        "/products%s lists the other two and marks it, after %i timeouts",
        async (pattern, count) => {
            const answer = await ask(pattern);
            expect(partsOf(answer)).toEqual(marked("TIMEOUT"));
            expect(answer.seconds).toBeGreaterThan(2 * count - 0.1);
            expect(answer.seconds).toBeLessThan(2 * count + 1);
        },
    );

    it("/products/circuitbreaker stops waiting when its circuit is open", async () => {
        expect(partsOf(await ask("/circuitbreaker"))).toEqual(marked("TIMEOUT"));
        await ask("/circuitbreaker");
        const answer = await ask("/circuitbreaker");
        expect(partsOf(answer)).toEqual(marked("CIRCUIT_OPEN"));
        expect(answer.seconds).toBeLessThan(1);
    });

    it("/products is complete and the circuit closed again after the network recovers", async () => {
        await heal();
        heal = () => Promise.resolve();
        expect((await ask("")).status).toBe(200);
        await circuitCloses();
    });
});
