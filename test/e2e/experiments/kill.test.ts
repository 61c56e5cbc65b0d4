import { PolicyV1Api } from "@kubernetes/client-node";
import { afterAll, beforeAll, expect, it } from "vitest";
import { scale } from "../../../cli/shop";
import { describeInAll, itInAll } from "../which-tests";
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

/** As `kubectl describe pod` reads them. */
async function eventsOn(pod: string): Promise<string[]> {
    const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${pod}`;
    const { items } = await stack.cluster.core.listNamespacedEvent({ namespace, fieldSelector });
    return items.filter(({ source }) => source?.component === "chaos-experiments").map(({ reason }) => reason!);
}

it("hot-deals-kill deletes its target, then one replacement after the other", async () => {
    await scale(stack.cluster, namespace, "hot-deals", 3);
    const before = await uids();
    let mostAway = 0;
    const updated = stack.run(short);
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
    const [{ verdict, targets }] = await Promise.all([updated, watching]);
    expect(["PASSED", "FAILED"]).toContain(verdict);
    expect(targets).toHaveLength(1);
    const { kills } = stack.journal().attacks[0]!;
    expect(kills!.length).toBeGreaterThanOrEqual(2);
    expect(before).toContain(kills![0]!.uid);
    const now = await uids();
    for (const { pod, uid } of kills!) {
        expect(now).not.toContain(uid);
        expect(await eventsOn(pod)).toContain("ChaosAttackBegan");
    }
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
    try {
        await until(
            "a pod is killed",
            async () => {
                const now = await uids();
                return before.some((uid) => !now.includes(uid));
            },
            { timeoutMs: 120_000 },
        );
    } catch (error) {
        throw new Error(update.printed(), { cause: error });
    } finally {
        await update.kill();
    }
    const killedAt = Date.now();
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
    await stack.toDefaults();
    expect(await stack.traces()).toEqual([]);
});

describeInAll("evictions", () => {
    const evicting = { ...short, "experiment.name": "hot-deals-evicted" };
    const budgetOf = async (minAvailable: number, act: () => Promise<void>) => {
        const policy = stack.cluster.library.makeApiClient(PolicyV1Api);
        const spec = { minAvailable, selector: { matchLabels: { app: "hot-deals" } } };
        await policy.createNamespacedPodDisruptionBudget({ namespace, body: { metadata: { name: "tried" }, spec } });
        try {
            await until("the budget counts the pods", async () => {
                const { status } = await policy.readNamespacedPodDisruptionBudget({ namespace, name: "tried" });
                return status?.currentHealthy === 3 && status.disruptionsAllowed === 3 - minAvailable;
            });
            await act();
        } finally {
            await policy.deleteNamespacedPodDisruptionBudget({ namespace, name: "tried" });
        }
    };

    beforeAll(() => scale(stack.cluster, namespace, "hot-deals", 3));

    it("that a budget refuses are known before anybody is attacked, in its words", async () => {
        const before = await uids();
        await budgetOf(3, async () => {
            expect(await stack.failingUp(evicting)).toMatch(
                /ABORTED \(eviction-refused\): .*Cannot evict pod.* The disruption budget tried needs 3 healthy pods/s,
            );
        });
        expect(await uids()).toEqual(before);
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });

    it("go one by one with a budget for one, and what it refused is in the journal", async () => {
        await budgetOf(2, async () => {
            expect(["PASSED", "FAILED"]).toContain((await stack.run(evicting)).verdict);
            const { kills, refused } = stack.journal().attacks[0]!;
            expect(kills!.length).toBeGreaterThanOrEqual(2);
            expect(kills![1]!.at - kills![0]!.at).toBeGreaterThan(4_000);
            expect(refused![0]!.problem).toContain("The disruption budget tried needs 2 healthy pods");
            await stack.toDefaults();
        });
    });
});
