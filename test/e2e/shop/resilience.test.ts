import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
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
const networks = {
    drop: { does: "drops packets", status: 504, mark: "TIMEOUT", secondsPerTimeout: 2 },
    reject: { does: "refuses connections", status: 502, mark: "UNREACHABLE", secondsPerTimeout: 0 },
};
const network = networks[inject("denied")];
/** Expects as many timeouts, and little more. */
function expectTimeouts(seconds: number, count: number): void {
    expect(seconds).toBeGreaterThan(network.secondsPerTimeout * count - 0.1);
    expect(seconds).toBeLessThan(network.secondsPerTimeout * count + 1);
}

describe(`while hot-deals is isolated by an experiment, on a network that ${network.does}`, () => {
    beforeAll(async () => {
        await stack.up({ ...quick, "experiment.enabled": "true" });
    });

    it("/products fails as a whole, after its timeout at most", async () => {
        const { status, body, seconds } = await ask("");
        expect([status, body.backend]).toEqual([network.status, "hot-deals"]);
        expectTimeouts(seconds, 1);
    });

    it.each(Object.entries(timeouts))(
        "/products%s lists the other two and marks it, after %i timeouts at most",
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

    it("every pattern lists all backends again after the experiment", async () => {
        await stack.up({ "experiment.enabled": "false" });
        for (const pattern of ["", ...Object.keys(timeouts)])
            expect((await ask(pattern)).body.statusHotDeals).toBe("REMOTE_SERVICE");
        await until(
            "the circuit is closed",
            async () => (await ask("/circuitbreaker")).body.statusHotDeals === "REMOTE_SERVICE",
            15_000,
        );
    });
});
