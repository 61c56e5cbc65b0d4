import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { messageOf } from "../../support/typed-cluster";
import { leaseName } from "../../../chaos/lease/lease-record";
import { kubectl } from "../../../sandbox/test/e2e/support";
import { processesOfStep } from "../../trials/troubles/processes";
import { casesOf } from "../which-tests";
import { quick, TestStack } from "./support";
import { until } from "../../support/until";

let stack: TestStack;
beforeAll(async () => {
    stack = await TestStack.open("e2e-killed");
});
afterAll(() => stack.close());

/** A short run: its attack ends 10 s after it is made. */
const short = { ...quick, "experiment.deadline": "10s" };
const deadlineMs = 10_000;
/** How much later everything must be back. */
const toleranceMs = 10_000;

const isOnPods = async (labelSelector: string) =>
    (await stack.cluster.core.listNamespacedPod({ namespace: stack.namespace, labelSelector })).items.length > 0;

const begun = {
    "the program begins": async () => stack.isProgramRunning(),
    "the first objects of the shop are made": async () => stack.exists(),
    "the lease is taken": async () =>
        (await stack.cluster.coordination.listNamespacedLease({ namespace: stack.namespace })).items.length > 0,
    "the deadline's account is made": async () =>
        (
            await stack.cluster.core.listNamespacedServiceAccount({
                namespace: stack.namespace,
                labelSelector: "chaos-experiments/experiment",
            })
        ).items.length > 0,
    "the deadline's Job is made": async () =>
        (await stack.cluster.batch.listNamespacedJob({ namespace: stack.namespace })).items.length > 0,
    "targets are labeled": () => isOnPods("chaos-experiments/target"),
    // The shop's policies let go of them: only then are they cut off.
    "targets are attacked": () => isOnPods("chaos-experiments/attacked"),
    "the attack is made": async () => (await stack.attackPolicies()).length > 0,
};

/** Begins an update and kills it, with all its processes, as soon as something holds. */
async function killedWhen(what: keyof typeof begun, laterMs = 0): Promise<void> {
    const update = stack.begin();
    try {
        // On a machine that runs other tests, too, an update takes a minute to come to its targets.
        await until(what, begun[what], { pauseMs: 20, timeoutMs: 180_000 });
        await sleep(laterMs);
    } catch (error) {
        throw new Error(`${messageOf(error)}; the update said:\n${update.printed()}`, { cause: error });
    } finally {
        await update.kill();
    }
}

/** Plain `pulumi cancel` and `pulumi up`, as a person types them after an update was killed. */
async function plainUp(settings: Record<string, string>): Promise<void> {
    await stack.cancel();
    stack.set(settings);
    expect(await stack.begin().ended).toBe(0);
}

/** Whether nothing is attacked, and the shop is whole. Until an attack comes, the Job keeps the labels for 5 min. */
async function undone(wasMade: boolean): Promise<boolean> {
    const [attacked, labeled, products] = await Promise.all([
        begun["the attack is made"](),
        wasMade && begun["targets are labeled"](),
        stack.products(),
    ]);
    return !attacked && !labeled && products.good;
}

describe("after an update is killed with SIGKILL", () => {
    it("while it installs the shop, the next update completes the shop", async () => {
        await killedWhen("the first objects of the shop are made", 1_000);
        await plainUp({});
        // Pods that are ready are a second later reached through their Services.
        await until("/products is whole", async () => (await stack.products()).good, { timeoutMs: 5_000 });
    });

    const moments = casesOf<[keyof typeof begun, number]>(
        [["targets are labeled", 0]],
        [
            ["the lease is taken", 0],
            ["the attack is made", 3_500],
            ["the program begins", 0],
            ["the deadline's account is made", 0],
            ["the deadline's Job is made", 0],
            ["the attack is made", 0],
        ],
    );

    it.each(moments)(
        "when %s (+%i ms), the shop is back within 10 s of the deadline, and the next update ends the experiment",
        async (what, laterMs) => {
            stack.set({ ...short, "experiment.enabled": "true" });
            await killedWhen(what, laterMs);
            const wasMade = await begun["the attack is made"]();
            await until("all is back", () => undone(wasMade), { timeoutMs: deadlineMs + toleranceMs });
            await plainUp({ "experiment.enabled": "false" });
            // The engine does not know the lease of a run that was killed in its first step: it expires.
            expect((await stack.traces()).filter((name) => name !== leaseName)).toEqual([]);
            expect((await stack.products()).good).toBe(true);
        },
    );

    it.each(casesOf<keyof typeof begun>([], ["the attack is made", "the deadline's Job is made"]))(
        "as soon as %s, the next update runs the experiment to its end",
        async (what) => {
            stack.set({ ...quick, "experiment.deadline": "10m", "experiment.enabled": "true" });
            await killedWhen(what);
            const { verdict, reason } = await stack.run();
            expect([verdict, reason]).toEqual(["FAILED", expect.any(String)]);
            await stack.up({ "experiment.enabled": "false" });
            expect(await stack.traces()).toEqual([]);
        },
    );
});

it("an update that is killed while it waits leaves nothing, and does not begin when that holds", async () => {
    const name = "hot-deals-during-rollout";
    stack.set({ ...short, "experiment.enabled": "true", "experiment.name": name });
    const update = stack.begin();
    await until("it waits", () => update.printed().includes("Waiting until "), { timeoutMs: 180_000 });
    expect(processesOfStep("steady-state", stack.namespace)).not.toEqual([]);
    await update.kill();
    const processes = () => processesOfStep("steady-state", stack.namespace);
    await until("its processes have ended", () => processes().length === 0, { timeoutMs: 10_000 });
    await kubectl(["--namespace", stack.namespace, "rollout", "restart", "deployment/gateway"]);
    await kubectl(["--namespace", stack.namespace, "rollout", "status", "deployment/gateway"]);
    expect(await stack.traces()).toEqual([]);
    await stack.cancel();
    stack.unset("experiment.name");
    await stack.up({ "experiment.enabled": "false" });
});

it("the project's own programs release the lock of a killed update", async () => {
    const update = stack.begin();
    await until("the lock is taken", async () => stack.isLocked(), { pauseMs: 5 });
    await update.kill();
    await stack.up();
    expect(stack.isLocked()).toBe(false);
});

type Happening = [withinS: number, what: string, happens: () => Promise<unknown>];

describe("an attack ends by itself", () => {
    const podOfJob = async () => {
        const labelSelector = "batch.kubernetes.io/job-name";
        const { items } = await stack.cluster.core.listNamespacedPod({ namespace: stack.namespace, labelSelector });
        // One that has failed stays beside the next.
        return items.find(({ status }) => status?.phase === "Running")!.metadata!.name!;
    };

    const alone: Happening = [10, "the update that started it is killed", async () => {}];
    // What is run in a container may end with it, and fail.
    const terminated: Happening = [
        10,
        "the deadline Job's program gets SIGTERM, as when its node restarts",
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
    ];
    const drained: Happening = [
        20,
        "the deadline Job's pod is deleted too, as when its node is drained",
        async () => kubectl(["--namespace", stack.namespace, "delete", "pod", await podOfJob()]),
    ];

    it.each(casesOf([drained], [alone, terminated]))(
        "within %i s of its deadline, even if %s",
        async (withinS, _what, happens) => {
            stack.set({ ...quick, "experiment.enabled": "true", "experiment.deadline": "12s" });
            await killedWhen("targets are attacked", 1_000);
            await happens();
            const [policy] = await stack.attackPolicies();
            const deadline = new Date(policy!.metadata!.creationTimestamp!).getTime() + 12_000;
            expect((await stack.products()).good).toBe(false);
            await until("the attack has ended", async () => !(await begun["the attack is made"]()), {
                timeoutMs: 40_000,
            });
            expect(Date.now()).toBeGreaterThan(deadline - 1_000);
            expect(Date.now()).toBeLessThan(deadline + withinS * 1_000);
            await until("the shop is whole again", async () => (await stack.products()).good, { timeoutMs: 40_000 });
            expect(await begun["targets are labeled"]()).toBe(false);
            expect(await begun["targets are attacked"]()).toBe(false);

            await stack.up({ "experiment.enabled": "false", "experiment.deadline": "10m" });
            expect(await stack.traces()).toEqual([]);
        },
    );
});
