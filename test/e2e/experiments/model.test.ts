import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { describeInAll } from "../which-tests";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import type { TestStack } from "../shop/support";
import { until } from "../../support/until";

const short = {
    "experiment.enabled": "true",
    "experiment.name": "departments-scaled-in-time",
    "experiment.duration": "3s",
    "experiment.grace": "12s",
    "experiment.interval": "250ms",
};

let stack: TestStack;
beforeAll(async () => {
    stack = await sharedStack();
});
afterAll(() => giveBack(stack));

async function replicasOf(name: string): Promise<number | undefined> {
    return (await stack.cluster.apps.readNamespacedDeployment({ name, namespace })).spec!.replicas;
}
async function scaledBack(): Promise<boolean> {
    const { items } = await stack.cluster.apps.listNamespacedDeployment({ namespace });
    return items.every(
        ({ metadata, spec }) =>
            spec!.replicas === 1 && metadata!.labels?.["chaos-experiments/set.replicas"] === undefined,
    );
}

describe("an experiment of two attacks, three checks and three actions", () => {
    let conclusion: Conclusion;

    it("is PASSED if both attacks are proven and all checks hold; the reason names each check", async () => {
        conclusion = await stack.run(short);
        expect(conclusion).toMatchObject({
            verdict: "PASSED",
            attack: "blackhole",
            actions: ["wait 2 s", "scale hot-deals to 2", "scale toys-bestseller to 2"],
        });
        expect(conclusion.targets).toEqual([
            expect.stringContaining("/hot-deals-"),
            expect.stringContaining("/toys-bestseller-"),
        ]);
        expect(conclusion.checks.map(({ name, held }) => [name, held])).toEqual([
            ["/products", true],
            ["pods of k8s.deployment=hot-deals", true],
            ["pods of k8s.deployment=toys-bestseller", true],
        ]);
        expect(conclusion.reason).toMatch(
            /requests to \/products succeeded.*checks found 1 or more ready pods of k8s\.deployment=toys-bestseller/,
        );
    });

    it("leaves a journal with each attack's targets, each check's answers and each action's times", () => {
        const { attackedAt, attacks, checks, actions } = stack.journal();
        expect(attacks.map(({ name, targets }) => [name, targets.length])).toEqual([
            ["blackhole", 1],
            ["blackhole-2", 1],
        ]);
        for (const { provenAt } of attacks) expect(provenAt).toBeLessThanOrEqual(attackedAt!);
        for (const { name, answers } of checks)
            expect([name, answers.some(({ good }) => !good), answers.at(-1)!.good]).toEqual([name, true, true]);
        expect(actions.map(({ problem }) => problem)).toEqual([undefined, undefined, undefined]);
        expect(actions[1]!.begunAt - actions[0]!.begunAt).toBeGreaterThanOrEqual(2_000);
    });

    it("isolates each target with its own policy, and keeps what it scaled until it is disabled", async () => {
        const policies = await stack.attackPolicies();
        const labeled = await stack.targets();
        const selected = policies
            .map(({ spec }) => spec!.podSelector!.matchLabels!["chaos-experiments/target"]!)
            .sort();
        expect(selected).toHaveLength(2);
        expect(labeled.map(({ metadata }) => metadata!.labels!["chaos-experiments/target"]!).sort()).toEqual(selected);
        expect(await Promise.all(["hot-deals", "toys-bestseller", "gateway"].map(replicasOf))).toEqual([2, 2, 1]);
    });

    it("is undone when it is disabled, including the numbers of pods", async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await scaledBack()).toBe(true);
        expect(await stack.traces()).toEqual([]);
        expect((await stack.products()).good).toBe(true);
    });
});

describe("an experiment without an attack that restarts the gateway", () => {
    const gateway = () => stack.cluster.apps.readNamespacedDeployment({ name: "gateway", namespace });

    it("says so in its verdict, and makes no object that could attack", async () => {
        const run = { ...short, "experiment.name": "gateway-rollout", "experiment.duration": "12s" };
        const { verdict, ...told } = await stack.run(run);
        // The gateway ends at once: whether a request is lost is chance.
        expect(["PASSED", "FAILED"]).toContain(verdict);
        expect(told).toMatchObject({
            reason: expect.stringContaining("requests to /products succeeded without an attack"),
            attack: "none",
            actions: ["wait 2 s", "restart gateway"],
        });
        expect((await stack.cluster.batch.listNamespacedJob({ namespace })).items).toEqual([]);
    });

    it("leaves no difference: the next update neither conflicts nor restarts the gateway again", async () => {
        const before = (await gateway()).metadata!.generation;
        await stack.up({ "experiment.enabled": "false" });
        const { metadata, spec } = await gateway();
        expect(spec!.template.metadata!.annotations).toHaveProperty(["chaos-experiments/restarted-at"]);
        expect(metadata!.generation).toBe(before);
        expect(await stack.traces()).toEqual([]);
    });
});

describeInAll("an update that is killed with SIGKILL after it has scaled Deployments", () => {
    async function killedOnceScaled(settings: Record<string, string>): Promise<void> {
        stack.set({ ...short, "experiment.grace": "4s", ...settings });
        const update = stack.begin();
        await until("toys-bestseller is scaled", async () => (await replicasOf("toys-bestseller")) === 2, {
            timeoutMs: 90_000,
        });
        await update.kill();
    }

    it("is undone by the next update", async () => {
        await killedOnceScaled({ "experiment.run": "killed" });
        await stack.up({ "experiment.enabled": "false" });
        expect(await scaledBack()).toBe(true);
        expect(await stack.traces()).toEqual([]);
    });

    it("is undone at the deadline: attacks, labels and numbers of pods", async () => {
        await killedOnceScaled({ "experiment.run": "abandoned", "experiment.deadline": "15s" });
        await until(
            "all is as it was",
            async () =>
                (await scaledBack()) && [...(await stack.attackPolicies()), ...(await stack.targets())].length === 0,
            { timeoutMs: 40_000 },
        );
        await until("the shop is whole", async () => (await stack.products()).good, { timeoutMs: 20_000 });
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });
});
