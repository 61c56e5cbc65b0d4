import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../../../cli/stack";
import { type Plan, planOf, planVariable, stackVariable } from "../../../experiments/plan";
import saved from "../../../experiments/saved/hot-deals-blackhole";
import { TestStack } from "../shop/support";

const namespace = "e2e-race";
const name = "hot-deals-blackhole";

let stack: TestStack;
let plan: Plan;
beforeAll(async () => {
    stack = await TestStack.open(namespace);
    await stack.up();
    const window = { durationMs: 2_000, intervalMs: 250, timeoutMs: 5_000, graceMs: 1_000, successRate: 1 };
    const context = stack.cluster.kubeconfig.getCurrentContext();
    plan = planOf({
        saved,
        name,
        run: "race",
        area: "Global",
        radius: { kind: "count", containers: 1 },
        deadlineMs: 60_000,
        onFailure: "report",
        context,
        clusterName: "sandbox",
        shopNamespace: namespace,
        ...window,
    });
});
afterAll(() => stack.close());

/** A step of the experiment as an update of another stack runs it: what it said, and whether it was refused. */
function step(
    program: string,
    ofStack: string,
    more: Record<string, string> = {},
): Promise<{ refused: boolean; said: string }> {
    const env = { ...process.env, [planVariable]: JSON.stringify(plan), [stackVariable]: ofStack, ...more };
    return new Promise((resolve) => {
        execFile(process.execPath, ["experiments/commands/run.js", program], { cwd: project, env }, (error, _, said) =>
            resolve({ refused: error !== null, said }),
        );
    });
}

/** What a check is handed whose attack is over. */
const checkOfEnded = () => ({
    [planVariable]: JSON.stringify({ ...plan, onFailure: "fail" }),
    STEADY_STATE: JSON.stringify({ route: { kind: "address", url: "http://127.0.0.1:1" }, latencyMs: 1 }),
    TARGETS: JSON.stringify({ attacks: [{ targets: [], matching: 0 }], control: { tookMs: 1 } }),
    ATTACKS: JSON.stringify(["ended"]),
    DEADLINE_JOB: "ended",
});

const marked = async () =>
    (await stack.cluster.core.listNamespacedPod({ namespace, labelSelector: "chaos-shop/target" })).items.length;

describe("an experiment has a namespace to itself", () => {
    it.each([1, 2, 3, 4, 5])(
        "of two that begin at once one goes on, and the other is ABORTED and says who has it (%i)",
        async () => {
            const stacks = ["left", "right"];
            const ended = await Promise.all(stacks.map((one) => step("steadyState", one)));
            expect(ended.map(({ refused }) => refused).sort()).toEqual([false, true]);
            const winner = ended.findIndex(({ refused }) => !refused);
            expect(ended[1 - winner]!.said).toMatch(
                new RegExp(
                    `ABORTED: (stack ${stacks[winner]} \\(.*\\) runs ${name}|another experiment has just begun) in namespace ${namespace}`,
                ),
            );
            expect((await step("recovery", stacks[winner]!)).refused).toBe(false);
            expect(await stack.traces()).toEqual([]);
        },
    );

    it("while a stack's experiment is enabled another's is ABORTED, and nothing of the first is touched", async () => {
        await stack.up({
            "experiment.enabled": "true",
            "experiment.duration": "2s",
            "experiment.grace": "1s",
            "experiment.interval": "250ms",
        });
        const { refused, said } = await step("steadyState", "other");
        expect(refused).toBe(true);
        expect(said).toContain(`ABORTED: stack ${namespace} (its shop is in ${namespace}) runs ${name}`);
        const [, , check] = await Promise.all([
            step("recovery", "other"),
            step("unmark", "other"),
            step("check", "other", checkOfEnded()),
        ]);
        expect(check.said).toContain("INCONCLUSIVE");
        expect(await marked()).toBe(1);
        expect((await stack.products()).good).toBe(false);
    });

    it("and once it is disabled the other's may begin", async () => {
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        expect((await step("steadyState", "other")).refused).toBe(false);
        await step("recovery", "other");
        expect(await stack.traces()).toEqual([]);
    });
});
