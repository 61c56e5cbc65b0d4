import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { marked, partsOf } from "../../support/listing";
import { ignoreNotFound } from "../../support/typed-cluster";
import { choices } from "../../../sandbox/node/choices";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { endWithoutEndpoints } from "../../../sandbox/test/support/network-page";
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
const outcomes = {
    "time-out": { status: 504, mark: "TIMEOUT", secondsPerTimeout: 2 },
    refused: { status: 502, mark: "UNREACHABLE", secondsPerTimeout: 0 },
};
type Outcome = (typeof outcomes)[keyof typeof outcomes];
const chosen = choices();
const denied = outcomes[chosen.denied === "drop" ? "time-out" : "refused"];
const withoutEndpoints = outcomes[endWithoutEndpoints(chosen)];
/** Expects as many timeouts, and not another one. */
function expectTimeouts({ secondsPerTimeout }: Outcome, seconds: number, count: number): void {
    expect(seconds).toBeGreaterThan(secondsPerTimeout * count - 0.1);
    expect(seconds).toBeLessThan(secondsPerTimeout * count + Math.max(1, secondsPerTimeout - 0.1));
}
/** The listing fails with its first backend that cannot be reached. */
async function expectWholeFails(outcome: Outcome): Promise<void> {
    const { status, body, seconds } = await ask("");
    expect([status, body.backend]).toEqual([outcome.status, "hot-deals"]);
    expectTimeouts(outcome, seconds, 1);
}
/** A pattern lists what it can, and marks hot-deals. */
async function expectMarks(outcome: Outcome, pattern: string, count: number): Promise<void> {
    const answer = await ask(pattern);
    expect(partsOf(answer)).toEqual(marked(outcome.mark));
    expectTimeouts(outcome, answer.seconds, count);
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
        // It cannot reach the database either. Once it is not ready, its Service has no endpoint.
        const isReady = ["get", "pods", "--selector=app=hot-deals", "--output=jsonpath={..containerStatuses[*].ready}"];
        const isOut = async () => (await kubectl(["--namespace", namespace, ...isReady])) === "false";
        await until("hot-deals is not ready", isOut, { timeoutMs: 30_000 });
        const { status } = withoutEndpoints;
        await until("its Service is empty", async () => (await ask("")).status === status, { timeoutMs: 10_000 });
    });

    it("/products fails as a whole, and at once if a Service without endpoints refuses", async () => {
        await expectWholeFails(withoutEndpoints);
    });

    it.each(Object.entries(timeouts))(
        "/products%s lists the other two and marks it, within a second if a Service without endpoints refuses",
        (pattern, count) => expectMarks(withoutEndpoints, pattern, count),
    );

    it("every pattern lists all backends again after the experiment", async () => {
        await stack.toDefaults();
        for (const pattern of ["", ...Object.keys(timeouts)])
            expect((await ask(pattern)).body.statusHotDeals).toBe("REMOTE_SERVICE");
        await circuitCloses();
    });
});

const isDenied = chosen.denied === "drop" ? "dropped" : "rejected";
describe(`while nobody may connect to a ready hot-deals, and denied traffic is ${isDenied}`, () => {
    const policy = { name: "hot-deals-to-everybody", namespace };
    /** Whether the shop's own policy allows the gateway to connect. Without it, the default denies that. */
    const allowed = (podSelector: object) => {
        const patch = [{ op: "replace", path: "/spec/podSelector", value: podSelector }];
        const what = ["patch", "networkpolicy", "hot-deals", "--type=json", `--patch=${JSON.stringify(patch)}`];
        return kubectl(["--namespace", namespace, ...what]);
    };
    /** There may be a change of labels before, for which Cilium needs up to 40 s. */
    const labelsPatience = { timeoutMs: 100_000 };
    const allow = async () => {
        await allowed({ matchLabels: { app: "hot-deals" } });
        await ignoreNotFound(stack.cluster.networking.deleteNamespacedNetworkPolicy(policy));
    };
    beforeAll(async () => {
        // It stays ready, since it reaches the database.
        const spec = { podSelector: { matchLabels: { app: "hot-deals" } }, policyTypes: ["Egress"], egress: [{}] };
        const body = { metadata: { name: policy.name }, spec };
        await stack.cluster.networking.createNamespacedNetworkPolicy({ namespace, body });
        await allowed({ matchLabels: { app: "nothing" } });
        await until("the policy is enforced", async () => (await ask("")).status !== 200, labelsPatience);
    });
    afterAll(allow);

    it("/products fails as a whole, after its timeout if it has to wait", async () => {
        await expectWholeFails(denied);
    });

    it.each(Object.entries(timeouts))(
        "/products%s lists the other two and marks it, after %i timeouts if it has to wait",
        (pattern, count) => expectMarks(denied, pattern, count),
    );

    it("/products/circuitbreaker does so too, and soon stops calling hot-deals", async () => {
        expect(partsOf(await ask("/circuitbreaker"))).toEqual(marked(denied.mark));
        await ask("/circuitbreaker");
        const answer = await ask("/circuitbreaker");
        expect(partsOf(answer)).toEqual(marked("CIRCUIT_OPEN"));
        expect(answer.seconds).toBeLessThan(1);
    });

    it("/products is complete and the circuit closed again after the policy is gone", async () => {
        await allow();
        await until("/products is complete", async () => (await ask("")).status === 200, labelsPatience);
        await circuitCloses();
    });
});
