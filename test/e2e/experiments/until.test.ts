import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { leaseName } from "../../../chaos/lease/lease-record";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import { quick, type TestStack } from "../shop/support";
import { describeInAll } from "../which-tests";

const enabled = { ...quick, "experiment.enabled": "true" };
const background = { propagationPolicy: "Background" } as const;

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

async function nobodyIsAttacked(): Promise<void> {
    expect(await stack.targets()).toEqual([]);
    expect((await stack.products()).good).toBe(true);
}

/** Neither a preview nor an update with --refresh runs a step again, or attacks anybody. */
async function refreshesChangeNothing(): Promise<void> {
    const { startedAt } = stack.journal();
    const isStep = ({ type }: { type: string }) => type.endsWith("Command");
    expect((await stack.preview({}, true)).filter(isStep)).toEqual([]);
    expect((await stack.refresh()).changes.filter(isStep)).toEqual([]);
    expect(stack.journal().startedAt).toBe(startedAt);
    await nobodyIsAttacked();
}

describe("experiment.until=verdict", () => {
    it("ends the attack with the verdict, and the update waits for recovery", async () => {
        const told = await stack.run({ ...enabled, "experiment.until": "verdict", "experiment.run": "verdict" });
        expect(told).toMatchObject({ verdict: "FAILED" });
        expect(told).not.toHaveProperty("lasts");
        expect(await stack.attackPolicies()).toEqual([]);
        await nobodyIsAttacked();
        expect(stack.said).toMatch(/FAILED: .*\n(.*\n)*?Recovered: \/products succeeded again/);
        expect(stack.journal().recovery!.undoneAt).toBeLessThanOrEqual(stack.journal().endedAt);
    });

    it("is not begun again by a preview or an update with --refresh", refreshesChangeNothing);

    it("nor if the Job and the lease are gone", async () => {
        const { items } = await stack.cluster.batch.listNamespacedJob({ namespace });
        for (const { metadata } of items)
            await stack.cluster.batch.deleteNamespacedJob({ name: metadata!.name!, namespace, ...background });
        await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace });
        await refreshesChangeNothing();
    });

    it("leaves nothing once it is disabled", async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
    });
});

describeInAll("experiment.until=disabled", () => {
    it("keeps the attack, and the last line and the output say until when, and how to end it", async () => {
        stack.unset("experiment.until");
        const { lasts } = (await stack.run({ ...enabled, "experiment.run": "disabled" })) as { lasts?: string };
        expect(lasts).toMatch(
            /until 20\S+Z at the latest\. To end it: npx pulumi config set experiment.enabled false --stack \S+ && /,
        );
        expect(stack.said).toContain(`The attack stays ${lasts}`);
        expect(await stack.targets()).toHaveLength(1);
    });

    it("an update with --refresh does not bring it back if somebody has deleted its policy", async () => {
        for (const { metadata } of await stack.attackPolicies())
            await stack.cluster.networking.deleteNamespacedNetworkPolicy({ name: metadata!.name!, namespace });
        await refreshesChangeNothing();
        expect(stack.said).toContain("was over, or had nothing to end it: ended what was left of it");
    });

    it("leaves nothing once it is disabled", async () => {
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });
});
