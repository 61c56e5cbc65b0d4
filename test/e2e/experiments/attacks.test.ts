import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Conclusion } from "../../../chaos/report/conclusion";
import { leaseName } from "../../../chaos/lifecycle/lease";
import { inOrder } from "../../support/in-order";
import { attackPolicies } from "../../support/attack-policies";
import { TestStack } from "../shop/support";
import { until } from "../../support/until";

const short = {
    "experiment.enabled": "true",
    "experiment.duration": "2s",
    "experiment.grace": "1s",
    "experiment.interval": "250ms",
};

let stack: TestStack;
beforeAll(async () => {
    stack = await TestStack.open("e2e-attacks");
    await stack.up();
});
afterAll(() => stack.close());

async function conclusionOf(settings: Record<string, string>): Promise<Conclusion> {
    return (await stack.up({ ...short, ...settings })).outputs.experiment!.value as Conclusion;
}

describe("connections that were established before the attack survive it on the sandbox's network,", () => {
    const settings = { "experiment.name": "hot-deals-blackhole", "experiment.duration": "8s" };
    afterAll(() => stack.unset("experiment.established"));

    it("which is told", async () => {
        expect(await conclusionOf({ ...settings, "experiment.run": "established" })).toMatchObject({
            verdict: "FAILED",
            established: [{ attack: "blackhole", direction: "inward", became: expect.stringMatching(/^survived/) }],
        });
        expect(stack.said).toContain("Established connections (inward): survived");
    });

    it("so the verdict is INCONCLUSIVE if they must be cut", async () => {
        expect(await conclusionOf({ ...settings, "experiment.established": "cut" })).toMatchObject({
            verdict: "INCONCLUSIVE",
            reason: expect.stringContaining("established connections into the targets survived the attack"),
        });
    });
});

it("an attack ends within 5 s when its lease is deleted, and the next update finds it gone", async () => {
    const namespace = "e2e-attacks";
    await conclusionOf({ "experiment.name": "hot-deals-blackhole", "experiment.run": "stopped" });
    const attacked = async () =>
        (await attackPolicies(stack.cluster, namespace)).length > 0 ||
        (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-experiments/target" })).items
            .length > 0;
    expect(await attacked()).toBe(true);
    await stack.cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace });
    await until("the attack is ended", async () => !(await attacked()), { timeoutMs: 5_000 });
    await stack.up({ "experiment.enabled": "false" });
    expect(await stack.traces()).toEqual([]);
});

it("a preview of an experiment names the containers that it would attack", async () => {
    await stack.preview({ ...short, "experiment.name": "hot-deals-blackhole", "experiment.run": "preview" });
    expect(stack.said).toMatch(
        /hot-deals-blackhole would hit 1 container of 1 that match k8s\.deployment=hot-deals.*hot-deals-\S+\/hot-deals/,
    );
});

describe("experiment.onFailure=fail", () => {
    it("fails the update with the verdict, after the attack is undone and the shop has recovered", async () => {
        const error = await stack.failingUp({
            ...short,
            "experiment.name": "hot-deals-blackhole",
            "experiment.onFailure": "fail",
        });
        expect(error).toMatch(/FAILED: [\d.]+% of .* The attack is undone, and \/products succeeded again/);
        expect(existsSync(/journal is (\S+\.json)/.exec(error)![1]!)).toBe(true);
        expect((await stack.products()).good).toBe(true);
        expect(await stack.traces()).toEqual([]);
    });

    it("another update of the same run says that its attack is over, and how to start a new run", async () => {
        const error = await stack.failingUp();
        expect(error).toMatch(
            inOrder("INCONCLUSIVE: ", "attack of run preview has already ended", "pulumi config set experiment.run"),
        );
    });

    it("leaves nothing once the experiment is disabled", async () => {
        await stack.up({ "experiment.enabled": "false", "experiment.onFailure": "report" });
        expect(await stack.traces()).toEqual([]);
    });
});
