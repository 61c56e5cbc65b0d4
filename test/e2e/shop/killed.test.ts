import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { claimName } from "../../../experiments/claim";
import { kubectl } from "../sandbox/support";
import { quick, TestStack, until } from "./support";

let stack: TestStack;
beforeAll(async () => {
    stack = await TestStack.open("e2e-killed");
});
afterAll(() => stack.close());

/** A short run: its attack ends 10 s after it is made. */
const short = { ...quick, "experiment.duration": "3s", "experiment.grace": "1s", "experiment.deadline": "10s" };
const deadlineMs = 10_000;
/** How much later everything must be back. */
const toleranceMs = 10_000;

const begun = {
    "the program begins": async () => stack.isWatched(),
    "the first objects of the shop are made": async () => stack.exists(),
    "the namespace is claimed": async () =>
        (await stack.cluster.coordination.listNamespacedLease({ namespace: stack.namespace })).items.length > 0,
    "the deadline's account is made": async () =>
        (
            await stack.cluster.core.listNamespacedServiceAccount({
                namespace: stack.namespace,
                labelSelector: "chaos-shop/experiment",
            })
        ).items.length > 0,
    "the deadline's Job is made": async () =>
        (await stack.cluster.batch.listNamespacedJob({ namespace: stack.namespace })).items.length > 0,
    "targets are marked": async () =>
        (await stack.cluster.core.listNamespacedPod({ namespace: stack.namespace, labelSelector: "chaos-shop/target" }))
            .items.length > 0,
    "the attack is made": async () =>
        (await stack.cluster.networking.listNamespacedNetworkPolicy({ namespace: stack.namespace })).items.length > 0,
};

/** Begins an update and kills it, with all its processes, as soon as something holds. */
async function killedWhen(what: keyof typeof begun, laterMs = 0): Promise<void> {
    const update = stack.begin();
    await until(what, begun[what], 60_000, 20);
    await sleep(laterMs);
    await update.kill();
    await until("the killed update's lock is released", async () => !stack.isLocked(), 5_000);
}

/** Plain `pulumi up`, as whoever comes next types it. */
async function plainUp(settings: Record<string, string>): Promise<void> {
    stack.set(settings);
    expect(await stack.begin().ended).toBe(0);
}

/** Whether nobody is attacked, and the shop whole. */
async function undone(): Promise<boolean> {
    const [attacked, marked, products] = await Promise.all([
        begun["the attack is made"](),
        begun["targets are marked"](),
        stack.products(),
    ]);
    return !attacked && !marked && products.good;
}

describe("an update that is killed with SIGKILL is made good by the next one", () => {
    it("while the shop comes up", async () => {
        await killedWhen("the first objects of the shop are made", 1_000);
        await plainUp({});
        // Pods that are ready are a second later reached through their Services.
        await until("/products is whole", async () => (await stack.products()).good, 5_000);
    });

    it.each([
        ["the program begins", 0],
        ["the namespace is claimed", 0],
        ["the deadline's account is made", 0],
        ["the deadline's Job is made", 0],
        ["targets are marked", 0],
        ["the attack is made", 0],
        ["the attack is made", 300],
        ["the attack is made", 1_000],
        ["the attack is made", 2_000],
        ["the attack is made", 3_500],
    ] as const)(
        "%s, and %i ms later: all is back within 10 s of the deadline, and the next update ends the experiment",
        async (what, laterMs) => {
            stack.set({ ...short, "experiment.enabled": "true" });
            await killedWhen(what, laterMs);
            await until("all is back", undone, deadlineMs + toleranceMs);
            await plainUp({ "experiment.enabled": "false" });
            // The claim of a run that was killed before its first step was done nobody knows of: it ends by itself.
            expect((await stack.traces()).filter((name) => name !== claimName)).toEqual([]);
            expect((await stack.products()).good).toBe(true);
        },
    );

    it.each([["the deadline's Job is made"], ["the attack is made"]] as const)(
        "as soon as %s: the next update runs the experiment to its end",
        async (what) => {
            stack.set({ ...quick, "experiment.deadline": "10m", "experiment.enabled": "true" });
            await killedWhen(what);
            const { outputs } = await stack.up();
            expect(outputs.experiment!.value).toMatchObject({ verdict: "FAILED" });
            await stack.up({ "experiment.enabled": "false" });
            expect(await stack.traces()).toEqual([]);
        },
    );
});

it("a lock that is left all the same, by an update killed before its program begins, is released by the project's own programs", async () => {
    const update = stack.begin();
    await until("the lock is taken", async () => stack.isLocked(), 60_000, 5);
    await update.kill();
    await stack.up();
    expect(stack.isLocked()).toBe(false);
});

describe("an attack ends by itself", () => {
    const podOfJob = async () =>
        (
            await stack.cluster.core.listNamespacedPod({
                namespace: stack.namespace,
                labelSelector: "batch.kubernetes.io/job-name",
            })
        ).items[0]!.metadata!.name!;

    it.each([
        ["the machine that began it is gone", async () => {}],
        // What is run in a container may end with it, and fail.
        [
            "what is to end it was told to stop, as on a node that is restarted",
            async () =>
                kubectl([
                    "--namespace",
                    stack.namespace,
                    "exec",
                    await podOfJob(),
                    "--",
                    "node",
                    "-e",
                    "process.kill(1)",
                ]).catch(() => undefined),
        ],
        [
            "the pod that is to end it is gone too, as from a drained node",
            async () => kubectl(["--namespace", stack.namespace, "delete", "pod", await podOfJob()]),
        ],
    ])("no later than 10 s after its deadline, though %s", async (_what, happens) => {
        stack.set({ ...quick, "experiment.enabled": "true", "experiment.deadline": "15s" });
        await killedWhen("the attack is made", 1_000);
        await happens();
        const policy = (await stack.cluster.networking.listNamespacedNetworkPolicy({ namespace: stack.namespace }))
            .items[0]!;
        const deadline = new Date(policy.metadata!.creationTimestamp!).getTime() + 15_000;
        expect((await stack.products()).good).toBe(false);
        await until("the shop is whole again", async () => (await stack.products()).good, 40_000);
        expect(Date.now()).toBeGreaterThan(deadline - 1_000);
        expect(Date.now()).toBeLessThan(deadline + 10_000);
        expect(await begun["the attack is made"]()).toBe(false);
        expect(await begun["targets are marked"]()).toBe(false);

        await stack.up({ "experiment.enabled": "false", "experiment.deadline": "10m" });
        expect(await stack.traces()).toEqual([]);
    });
});
