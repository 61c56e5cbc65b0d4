import { afterAll, beforeAll, expect, it } from "vitest";
import { startEnforcer, stopEnforcer } from "../../sandbox/test/support/enforcer";
import { choices } from "../../sandbox/node/choices";
import { giveBack, sharedStack } from "./shop/shared";
import { quick, type TestStack } from "./shop/support";

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

const { network } = choices();
const title = "a verdict is INCONCLUSIVE if the cluster ignores NetworkPolicies, and says where the remedy is";
const only = network === "kube-router" ? "" : " (skipped: only kube-router's rules can be removed)";

it.skipIf(only !== "")(title + only, async () => {
    await stopEnforcer();
    try {
        expect(await stack.run({ ...quick, "experiment.enabled": "true" })).toMatchObject({
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
