import { attackPolicies } from "../../support/attack-policies";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { keptJournals } from "../../../chaos/report/journal-files";
import { reportsFolder } from "../../../experiments/run";
import { quick, TestStack } from "../shop/support";

const namespace = "e2e-stop";
const enabled = { ...quick, "experiment.enabled": "true" };
const disabled = { "experiment.enabled": "false" };

let stack: TestStack;
let runs = 0;
beforeAll(async () => {
    stack = await TestStack.open(namespace);
});
afterAll(() => stack.close());

const policies = async () => (await attackPolicies(stack.cluster, namespace)).map(({ metadata }) => metadata!.name!);

/** Nobody is cut off, though the update that was to undo the run has failed. */
async function attackIsOver(): Promise<void> {
    expect(await policies()).toEqual([]);
    expect((await stack.products()).good).toBe(true);
}

describe("disabling an experiment ends its attack", () => {
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

    it("though the agent that the update adds cannot be read", async () => {
        const unreachable = { "agent.enabled": "true", "agent.install": "manifest", "agent.manifest": "no-such.yaml" };
        await stack.failingUp({ ...disabled, ...unreachable });
        await attackIsOver();
        for (const key of Object.keys(unreachable)) stack.unset(key);
        stack.set({ "agent.enabled": "false" });
    });

    it("before an update with --refresh waits for the workload that the attack keeps from being ready", async () => {
        const begun = Date.now();
        await stack.refresh(disabled);
        expect(Date.now() - begun).toBeLessThan(90_000);
        expect(await stack.traces()).toEqual([]);
    });

    it("and its recovery counts from then, not from the deletes at the update's end", async () => {
        await stack.up(disabled);
        const { recovery } = keptJournals(reportsFolder).find(({ plan }) => plan.namespace === namespace)!;
        expect(recovery!.recoveredAfterMs).toBeLessThan(4_000);
        expect(stack.said).toContain("Ended the attacks of hot-deals-blackhole");
    });
});
