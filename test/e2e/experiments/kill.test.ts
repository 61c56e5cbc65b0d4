import { afterAll, beforeAll, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { keptJournals } from "../../support/kept-journals";
import { reportsFolder } from "../../../experiments/run";
import { itInAll } from "../in-all";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import type { TestStack } from "../shop/support";
import { until } from "../../support/until";

const short = {
    "experiment.enabled": "true",
    "experiment.name": "hot-deals-kill",
    "experiment.duration": "13s",
    "experiment.grace": "1s",
    "experiment.interval": "250ms",
};

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(async () => {
    await scale(stack.cluster, namespace, "hot-deals", 1);
    await giveBack(stack);
});

async function hotDeals() {
    const { items } = await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: "app=hot-deals" });
    return items.filter(({ metadata }) => !metadata!.deletionTimestamp);
}
const uids = async () => (await hotDeals()).map(({ metadata }) => metadata!.uid!);
const notReady = async () =>
    (await hotDeals()).filter(
        ({ status }) => !status!.conditions?.some(({ type, status }) => type === "Ready" && status === "True"),
    ).length;

it("hot-deals-kill deletes its target, then one replacement after the other", async () => {
    await scale(stack.cluster, namespace, "hot-deals", 3);
    const before = await uids();
    let mostAway = 0;
    const updated = stack.up(short);
    const watching = until(
        "the update ends",
        async () => {
            mostAway = Math.max(mostAway, await notReady());
            return Promise.race([
                updated.then(() => true),
                new Promise<boolean>((resolve) => setImmediate(() => resolve(false))),
            ]);
        },
        { timeoutMs: 120_000, pauseMs: 50 },
    );
    const [{ outputs }] = await Promise.all([updated, watching]);
    const { verdict, journal, targets } = outputs.experiment!.value;
    expect(["PASSED", "FAILED"]).toContain(verdict);
    expect(targets).toHaveLength(1);
    const { kills } = keptJournals(reportsFolder).find(({ conclusion }) => conclusion.journal === journal)!.attacks[0]!;
    expect(kills!.length).toBeGreaterThanOrEqual(2);
    expect(before).toContain(kills![0]!.uid);
    const now = await uids();
    for (const { uid } of kills!) expect(now).not.toContain(uid);
    expect(mostAway).toBeLessThanOrEqual(1);
    expect(await stack.attacksOnPage()).toMatchObject([{ workload: "hot-deals", effect: "killed repeatedly" }]);
});

it("a kill ends with its experiment: no further pod is deleted, and nothing is left", async () => {
    await stack.toDefaults();
    expect(await stack.attacksOnPage()).toEqual([]);
    expect(await stack.traces()).toEqual([]);
    const survivors = await uids();
    // Longer than between two kills: that nothing happens cannot be waited for otherwise.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect(await uids()).toEqual(survivors);
    expect((await stack.products()).good).toBe(true);
});

itInAll("a kill ends at its deadline even if the update that started it was killed", async () => {
    stack.set({ ...short, "experiment.duration": "8s", "experiment.deadline": "15s" });
    const before = await uids();
    const update = stack.begin();
    await until("a pod is killed", async () => {
        const now = await uids();
        return before.some((uid) => !now.includes(uid));
    });
    const killedAt = Date.now();
    await update.kill();
    await until(
        "the kill request is gone",
        async () =>
            (
                await stack.cluster.core.listNamespacedConfigMap({
                    namespace,
                    labelSelector: "chaos-experiments/experiment",
                })
            ).items.every(({ metadata }) => metadata!.name!.endsWith("-deadline")),
        { timeoutMs: 30_000 },
    );
    expect(Date.now() - killedAt).toBeLessThan(25_000);
    await stack.up({ "experiment.enabled": "false" });
    expect(await stack.traces()).toEqual([]);
});
