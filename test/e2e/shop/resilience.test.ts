import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { marked, partsOf } from "../../support/listing";
import { ignoreNotFound } from "../../../chaos/cluster/client";
import { labels } from "../../../chaos/cluster/labels";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { giveBack, sharedNamespace as namespace, sharedStack } from "./shared";
import { quick, type TestStack } from "./support";
import { until } from "../../support/until";

let stack: TestStack;
let products: string;
beforeAll(async () => {
    stack = await sharedStack();
    products = (await stack.outputs()).productsUrl!.value as string;
});
afterAll(() => giveBack(stack));

async function ask(pattern: string) {
    const begun = performance.now();
    const response = await fetch(`${products}${pattern}`);
    const body = (await response.json()) as Record<string, any>;
    return { status: response.status, body, seconds: (performance.now() - begun) / 1_000 };
}

/** How many timeouts of 2 s each pattern waits for a backend that hangs. */
const timeouts = { "/exception": 3, "/timeout": 1, "/retry": 3, "/parallel": 1 };
const networks = {
    drop: { does: "drops", status: 504, mark: "TIMEOUT", secondsPerTimeout: 2 },
    reject: { does: "rejects", status: 502, mark: "UNREACHABLE", secondsPerTimeout: 0 },
};
const network = networks[inject("denied")];
/** Expects as many timeouts, and little more. */
function expectTimeouts(seconds: number, count: number): void {
    expect(seconds).toBeGreaterThan(network.secondsPerTimeout * count - 0.1);
    expect(seconds).toBeLessThan(network.secondsPerTimeout * count + 1);
}
const circuitCloses = () =>
    until(
        "the circuit is closed",
        async () => (await ask("/circuitbreaker")).body.statusHotDeals === "REMOTE_SERVICE",
        { timeoutMs: 15_000 },
    );

describe("while hot-deals is isolated by an experiment", () => {
    beforeAll(async () => {
        await stack.up({ ...quick, "experiment.enabled": "true" });
        // It cannot reach the database either. Once it is not ready, its Service has no endpoint and refuses.
        await until("hot-deals is not ready", async () => (await ask("")).status === 502, { timeoutMs: 30_000 });
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

    it("every pattern lists all backends again after the experiment", async () => {
        await stack.toDefaults();
        for (const pattern of ["", ...Object.keys(timeouts)])
            expect((await ask(pattern)).body.statusHotDeals).toBe("REMOTE_SERVICE");
        await circuitCloses();
    });
});

describe(`while nobody may connect to a ready hot-deals, and the network ${network.does} what is denied`, () => {
    const policy = { name: "hot-deals-to-everybody", namespace };
    /** With this label, the shop's own policy does not allow the gateway to connect. */
    const label = (change: string) =>
        kubectl(["--namespace", namespace, "label", "pods", "--selector=app=hot-deals", labels.attacked + change]);
    const allow = async () => {
        await label("-");
        await ignoreNotFound(stack.cluster.networking.deleteNamespacedNetworkPolicy(policy));
    };
    beforeAll(async () => {
        // It stays ready, since it reaches the database.
        const spec = { podSelector: { matchLabels: { app: "hot-deals" } }, policyTypes: ["Egress"], egress: [{}] };
        const body = { metadata: { name: policy.name }, spec };
        await stack.cluster.networking.createNamespacedNetworkPolicy({ namespace, body });
        await label("=by-this-test");
        await until("the policy is enforced", async () => (await ask("")).status !== 200, { timeoutMs: 15_000 });
    });
    afterAll(allow);

    it("/products fails as a whole, after its timeout if it has to wait", async () => {
        const { status, body, seconds } = await ask("");
        expect([status, body.backend]).toEqual([network.status, "hot-deals"]);
        expectTimeouts(seconds, 1);
    });

    it.each(Object.entries(timeouts))(
        "/products%s lists the other two and marks it, after %i timeouts if it has to wait",
        async (pattern, count) => {
            const answer = await ask(pattern);
            expect(partsOf(answer)).toEqual(marked(network.mark));
            expectTimeouts(answer.seconds, count);
        },
    );

    it("/products/circuitbreaker does so too, and soon stops calling hot-deals", async () => {
        expect(partsOf(await ask("/circuitbreaker"))).toEqual(marked(network.mark));
        await ask("/circuitbreaker");
        const answer = await ask("/circuitbreaker");
        expect(partsOf(answer)).toEqual(marked("CIRCUIT_OPEN"));
        expect(answer.seconds).toBeLessThan(1);
    });

    it("/products is complete and the circuit closed again after the policy is gone", async () => {
        await allow();
        await until("/products is complete", async () => (await ask("")).status === 200, { timeoutMs: 15_000 });
        await circuitCloses();
    });
});
