import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { giveBack, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";
import { inOrder } from "../../support/in-order";
import { until } from "../../support/until";
import { describeInAll } from "../which-tests";

const graceMs = 5_000;
const durationMs = 180_000;
const enabled = { "experiment.enabled": "true" };
const patient = {
    ...quick,
    ...enabled,
    "experiment.grace": `${graceMs}ms`,
    "experiment.duration": `${durationMs}ms`,
    "experiment.timeout": "2s",
    "experiment.abortBelow": "50%",
};
const disabled = { "experiment.enabled": "false" };

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

const policies = async () => (await stack.attackPolicies()).length;

describe("experiment.abortBelow", () => {
    it("ends the attack during the update, long before the window's end: FAILED, and the shop is back", async () => {
        let ended = false;
        const update = stack.up(patient).finally(() => (ended = true));
        await until("the attack is there", async () => ended || (await policies()) > 0, { timeoutMs: 120_000 });
        await until("the attack is over", async () => (await policies()) === 0, { pauseMs: 50 });
        expect(ended).toBe(false);
        const { outputs } = await update;

        expect(outputs.experiment!.value).toMatchObject({
            verdict: "FAILED",
            reason: expect.stringMatching(/^aborted after \d+(\.\d)? s: 0% of \d+ requests to \/products succeeded /),
        });
        const { aborted, attackedAt, recovery } = stack.journal();
        expect(aborted).toMatchObject({ check: "/products", rate: "0%", below: "50%", overMs: 10_000 });
        expect(aborted!.endedAt! - attackedAt!).toBeLessThan(30_000);
        expect(attackedAt! + graceMs + durationMs).toBeGreaterThan(Date.now());
        expect(recovery!.recoveredAfterMs).toBeLessThan(10_000);
        expect(stack.said).toContain("/products: success rate 0% over 10 s (abort below 50%); ending the attacks");
        expect(await stack.targets()).toEqual([]);
        expect((await stack.products()).good).toBe(true);
    });

    it("leaves the next update nothing but the rest to remove, and the recovery as it was measured", async () => {
        const { recovery } = stack.journal();
        await stack.up(disabled);
        expect(await stack.traces()).toEqual([]);
        expect(stack.journal().recovery).toEqual(recovery);
    });
});

describeInAll("experiment.onFailure=fail", () => {
    const failing = { ...quick, ...enabled, "experiment.onFailure": "fail", "experiment.run": "failing" };

    it("fails the update with the verdict, after the attack is undone and the shop has recovered", async () => {
        stack.unset("experiment.abortBelow");
        const error = await stack.failingUp({ ...failing, "experiment.timeout": "5s" });
        expect(error).toMatch(/FAILED: [\d.]+% of .* The attack is undone, and \/products succeeded again/);
        expect(existsSync(/journal is (\S+\.json)/.exec(error)![1]!)).toBe(true);
        expect((await stack.products()).good).toBe(true);
        expect(await stack.traces()).toEqual([]);
    });

    it("another update of the same run says that its attack is over, and how to start a new run", async () => {
        const error = await stack.failingUp();
        expect(error).toMatch(
            inOrder(
                "INCONCLUSIVE (run-over): ",
                "attack of run failing has already ended",
                "pulumi config set experiment.run",
            ),
        );
    });

    it("leaves nothing once the experiment is disabled", async () => {
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });
});
