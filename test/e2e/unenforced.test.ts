import { afterAll, beforeAll, expect, it } from "vitest";
import { startEnforcer, stopEnforcer } from "../../sandbox/test/support/enforcer";
import { giveBack, sharedStack } from "./shop/shared";
import { quick, type TestStack } from "./shop/support";

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

it("a verdict is INCONCLUSIVE if the cluster ignores NetworkPolicies, with the reason and the remedy", async () => {
    await stopEnforcer();
    try {
        const { outputs } = await stack.up({ ...quick, "experiment.enabled": "true" });
        expect(outputs.experiment!.value).toMatchObject({
            verdict: "INCONCLUSIVE",
            requests: 0,
            reason: expect.stringMatching(/does not enforce NetworkPolicies.*--cni=calico/),
        });
    } finally {
        await startEnforcer();
    }
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
});
