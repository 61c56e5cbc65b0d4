import { afterAll, beforeAll, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { giveBack, reset, sharedNamespace as namespace, sharedStack } from "./shared";
import type { TestStack } from "./support";

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

it("the reset of a shared shop takes back settings", async () => {
    await stack.up({ "gateway.serviceType": "ClusterIP" });
    await reset(stack);
    expect((await stack.outputs()).productsUrl!.value).toMatch(/^http:/);
});

it("the reset says all that tests have left, and that no update takes back", async () => {
    const { core } = stack.cluster;
    await scale(stack.cluster, namespace, "hot-deals", 2);
    await core.createNamespacedConfigMap({ namespace, body: { metadata: { name: "stray" } } });
    await core.deleteNamespacedService({ name: "toys-bestseller", namespace });
    const error = await reset(stack, 2_000).then(
        () => "",
        (error: Error) => error.message,
    );
    for (const part of [
        `these tests leave the shop ${namespace} changed: `,
        "there is ConfigMap stray",
        "there is Deployment hot-deals, replicas 2",
        "there is no Deployment hot-deals, replicas 1",
        "there is no Service toys-bestseller, ",
    ])
        expect(error).toContain(part);

    await core.deleteNamespacedConfigMap({ name: "stray", namespace });
    await scale(stack.cluster, namespace, "hot-deals", 1);
    await stack.refresh();
});
