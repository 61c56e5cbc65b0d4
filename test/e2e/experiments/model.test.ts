import { AdmissionregistrationV1Api, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { keptJournals } from "../../support/kept-journals";
import type { Conclusion } from "../../../chaos/report/conclusion";
import type { Journal } from "../../../chaos/report/journal-schema";
import { reportsFolder } from "../../../experiments/run";
import { attackPolicies } from "../../support/attack-policies";
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
const journalOf = ({ journal }: Conclusion): Journal =>
    keptJournals(reportsFolder).find(({ conclusion }) => conclusion.journal === journal)!;

describe("an experiment of two attacks, three checks and three actions", () => {
    let conclusion: Conclusion;

    it("is PASSED if both attacks are proven and all checks hold; the reason names each check", async () => {
        conclusion = (await stack.up(short)).outputs.experiment!.value as Conclusion;
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
        const { attackedAt, attacks, checks, actions } = journalOf(conclusion);
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
        const policies = await attackPolicies(stack.cluster, namespace);
        const { items: labeled } = await stack.cluster.core.listNamespacedPod({
            namespace,
            labelSelector: "chaos-experiments/target",
        });
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
        const { verdict, ...told } = (await stack.up(run)).outputs.experiment!.value as Conclusion;
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

describeInAll("an action that the cluster refuses", () => {
    const name = "one-pod-each";
    const admission = () => stack.cluster.library.makeApiClient(AdmissionregistrationV1Api);
    const message = "here each Deployment has one pod";

    beforeAll(async () => {
        const resourceRules = [
            { apiGroups: ["apps"], apiVersions: ["v1"], operations: ["UPDATE"], resources: ["deployments"] },
        ];
        await admission().createValidatingAdmissionPolicy({
            body: {
                metadata: { name },
                spec: {
                    matchConstraints: { resourceRules },
                    validations: [{ expression: "object.spec.replicas <= 1", message }],
                },
            },
        });
        const matchResources = { namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } } };
        await admission().createValidatingAdmissionPolicyBinding({
            body: { metadata: { name }, spec: { policyName: name, validationActions: ["Deny"], matchResources } },
        });
        const refused = () =>
            stack.cluster.apps
                .patchNamespacedDeployment(
                    { name: "hot-deals", namespace, dryRun: "All", body: { spec: { replicas: 2 } } },
                    setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
                )
                .then(
                    () => false,
                    () => true,
                );
        await until("the policy is enforced", refused);
    });
    afterAll(async () => {
        await admission().deleteValidatingAdmissionPolicyBinding({ name });
        await admission().deleteValidatingAdmissionPolicy({ name });
    });

    it("makes the verdict INCONCLUSIVE; the reason names the action and the cause", async () => {
        const conclusion = (await stack.up({ ...short, "experiment.grace": "3s", "experiment.run": "refused" })).outputs
            .experiment!.value as Conclusion;
        expect(conclusion).toMatchObject({ verdict: "INCONCLUSIVE", actions: ["wait 2 s"] });
        expect(conclusion.reason).toMatch(new RegExp(`it was not possible to scale hot-deals to 2: .*${message}”\\.$`));
    });

    it("and all is undone", async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await scaledBack()).toBe(true);
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
            async () => (await scaledBack()) && (await attackPolicies(stack.cluster, namespace)).length === 0,
            { timeoutMs: 40_000 },
        );
        expect(
            (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-experiments/target" }))
                .items,
        ).toEqual([]);
        await until("the shop is whole", async () => (await stack.products()).good, { timeoutMs: 20_000 });
        await stack.toDefaults();
        expect(await stack.traces()).toEqual([]);
    });
});
