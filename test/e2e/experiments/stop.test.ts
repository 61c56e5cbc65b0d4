import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { leaseName } from "../../../chaos/lease/lease-record";
import { attackPolicies } from "../../support/attack-policies";
import { until } from "../../support/until";
import { itInAll } from "../which-tests";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";

const enabled = { ...quick, "experiment.enabled": "true" };
const disabled = { "experiment.enabled": "false" };

let stack: TestStack;
let runs = 0;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

const policies = async () => (await attackPolicies(stack.cluster, namespace)).map(({ metadata }) => metadata!.name!);

const targets = async () =>
    (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-experiments/target" })).items.length;

/** Nobody is cut off, though the update that was to undo the run has failed. */
async function attackIsOver(): Promise<void> {
    expect(await policies()).toEqual([]);
    await until("the shop is back", async () => (await stack.products()).good, { timeoutMs: 10_000 });
}

describe("ending an experiment ends its attack", () => {
    beforeEach(async () => {
        await stack.up({ ...enabled, "experiment.run": String(++runs) });
        expect(await policies()).toHaveLength(1);
    });

    it("though a setting is invalid in the same update; the next one removes the rest of the run", async () => {
        const problem = await stack.failingUp({ ...disabled, "experiment.radius": "everybody" });
        expect(problem).toContain('experiment.radius is "everybody"');
        await attackIsOver();
        stack.unset("experiment.radius");
        await stack.up();
        expect(await stack.traces()).toEqual([]);
    });

    itInAll("though the agent that the update adds cannot be read", async () => {
        const unreachable = { "agent.enabled": "true", "agent.install": "manifest", "agent.manifest": "no-such.yaml" };
        await stack.failingUp({ ...disabled, ...unreachable });
        await attackIsOver();
        for (const key of Object.keys(unreachable)) stack.unset(key);
        stack.set({ "agent.enabled": "false" });
    });

    itInAll(
        "before an update with --refresh waits for the workload that the attack keeps from being ready",
        async () => {
            const begun = Date.now();
            await stack.refresh(disabled);
            expect(Date.now() - begun).toBeLessThan(90_000);
            expect(await stack.traces()).toEqual([]);
        },
    );

    it("needs no update: it ends within 5 s when its lease is deleted, and the next update finds it gone", async () => {
        await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace });
        const isOver = async () => (await policies()).length === 0 && (await targets()) === 0;
        await until("the attack is ended", isOver, { timeoutMs: 5_000 });
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });
});
