import { afterAll, beforeAll, expect, it } from "vitest";
import { startEnforcer, stopEnforcer } from "../../sandbox/test/support/enforcer";
import { giveBack, sharedStack } from "./shop/shared";
import { quick, type TestStack } from "./shop/support";

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

it("a verdict is INCONCLUSIVE if the cluster ignores NetworkPolicies, and says where the remedy is", async () => {
    await stopEnforcer();
    try {
        const { outputs } = await stack.up({ ...quick, "experiment.enabled": "true" });
        expect(outputs.experiment!.value).toMatchObject({
            verdict: "INCONCLUSIVE",
            code: "attack-not-proven",
            requests: 0,
            reason: expect.stringMatching(/the NetworkPolicy exists, but .* still accepted fresh connections\.$/),
        });
        expect(stack.said).toContain("What to do: docs/troubleshooting.md#attack-not-proven");
    } finally {
        await startEnforcer();
    }
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
});
