import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { inOrder } from "../../support/in-order";
import { itInAll } from "../which-tests";
import { giveBack, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

it("a gateway without an external address delays no update, and checks go through the API server", async () => {
    const begun = Date.now();
    const { outputs } = await stack.up({ "gateway.serviceType": "ClusterIP" });
    expect(Date.now() - begun).toBeLessThan(30_000);
    expect(outputs.productsUrl).toBeUndefined();
    expect(outputs.gateway!.value).toContain("port-forward service/gateway 8080:80");
    // The experiments below say how they check.
});

describe("an experiment that cannot answer its question ends with", () => {
    it("ABORTED if the shop is not healthy, and touches no pod", async () => {
        await scale(stack.cluster, stack.namespace, "hot-deals", 0);
        const error = await stack.failingUp({ "experiment.enabled": "true", "experiment.timeout": "3s" });
        expect(error).toMatch(
            /ABORTED \(no-steady-state\): there is no .*: \/products: status 50\d: .*hot-deals.*Nothing was attacked/s,
        );
        expect(await stack.traces()).toEqual([]);
        await scale(stack.cluster, stack.namespace, "hot-deals", 1);
        await stack.untilWhole();
    });

    it("ABORTED if its target matches nothing, with a list of possible targets", async () => {
        const error = await stack.failingUp({
            "experiment.enabled": "true",
            "experiment.timeout": "5s",
            "experiment.target": "k8s.deployment=hot-deal",
        });
        expect(error).toMatch(
            inOrder(
                "ABORTED (no-target): no running container matches ",
                `k8s.deployment=hot-deal,k8s.namespace=${stack.namespace}`,
                `k8s.deployment=hot-deals,k8s.namespace=${stack.namespace}  (1 container)`,
            ),
        );
        expect(await stack.traces()).toEqual([]);
        await stack.up({ "experiment.enabled": "false", "experiment.target": "k8s.deployment=hot-deals" });
        expect((await stack.products()).good).toBe(true);
    });

    itInAll("INCONCLUSIVE if another NetworkPolicy allows what the attack denies, with its name", async () => {
        const namespace = stack.namespace;
        // It selects pods only once they are targets, so the run does not make it let go of them.
        const podSelector = { matchExpressions: [{ key: "chaos-experiments/target", operator: "Exists" }] };
        const spec = { podSelector, policyTypes: ["Ingress"], ingress: [{}] };
        await stack.cluster.networking.createNamespacedNetworkPolicy({
            namespace,
            body: { metadata: { name: "allow-all" }, spec },
        });
        try {
            const conclusion = await stack.run({ ...quick, "experiment.enabled": "true" });
            expect(stack.said).toContain("Checking /products at the API server's proxy");
            expect(conclusion).toMatchObject({
                verdict: "INCONCLUSIVE",
                code: "policy-allows",
                requests: 0,
                reason: expect.stringMatching(/the NetworkPolicy allow-all allows ingress to the target hot-deals-/),
            });
        } finally {
            await stack.cluster.networking.deleteNamespacedNetworkPolicy({ name: "allow-all", namespace });
            await stack.up({ "experiment.enabled": "false", "gateway.serviceType": "LoadBalancer" });
        }
        expect(await stack.traces()).toEqual([]);
    });
});
