import { execFile } from "node:child_process";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { project } from "../../../cli/stack-file";
import { type Plan, type PlanArgs, planOf } from "../../../chaos/definition/plan";
import { inputVariables, type StepName } from "../../../chaos/run/contract";
import { keptJournals } from "../../support/kept-journals";
import { gatewayOf } from "../../../components/shop/gateway";
import { productsCheck } from "../../../experiments/products";
import { reportsFolder } from "../../../experiments/reports-folder";
import definition from "../../../experiments/saved/hot-deals-blackhole";
import { bundledFile } from "../../../toolchain/bundle";
import { casesOf } from "../which-tests";
import { giveBack, sharedNamespace as namespace, sharedStack } from "../shop/shared";
import type { TestStack } from "../shop/support";

const name = "hot-deals-blackhole";

let stack: TestStack;
let plan: Plan;
/** Its check holds under the attack, too, so nothing waits for its recovery. */
let planOfContent: Plan;
beforeAll(async () => {
    stack = await sharedStack();
    const window = { durationMs: 2_000, intervalMs: 250, timeoutMs: 5_000, graceMs: 1_000, successRate: 1 };
    const context = stack.cluster.kubeconfig.getCurrentContext();
    const args = {
        definition,
        defaultChecks: [productsCheck],
        name,
        run: "race",
        area: "Global",
        deadlineMs: 60_000,
        onFailure: "report",
        context,
        clusterName: "sandbox",
        defaultNamespace: namespace,
        service: gatewayOf(namespace),
        reports: reportsFolder,
        ...window,
    } satisfies PlanArgs;
    plan = planOf(args);
    const checks = [{ kind: "podsReady", of: "k8s.deployment=gateway" }] as const;
    planOfContent = planOf({ ...args, definition: { ...definition, checks: [...checks] } });
});
afterAll(() => giveBack(stack));

/** A step of the experiment as an update of another stack runs it: what it said, and whether it was refused. */
function step(name: StepName, ofStack: string, more: object = {}): Promise<{ refused: boolean; said: string }> {
    const env = { ...process.env, ...inputVariables({ plan, stack: ofStack, ...more }) };
    return new Promise((resolve) => {
        execFile(
            process.execPath,
            [bundledFile("chaos/run/steps-program.ts"), name],
            { cwd: project, env },
            (error, _, said) => resolve({ refused: error !== null, said }),
        );
    });
}

/** What a check is handed whose attack is over. */
const checkOfEnded = () => ({
    plan: { ...planOfContent, onFailure: "fail" },
    steadyState: { route: { kind: "address", url: "http://127.0.0.1:1" }, latencyMs: 1 },
    targets: {
        attacks: planOfContent.attacks.map(({ name }) => ({ name, targets: [], matching: 0 })),
        baselineMs: 1,
    },
    deadlineJob: "ended",
});

describe("a namespace has one experiment at a time", () => {
    it.each(casesOf([1], [2, 3, 4, 5]))(
        "if two start at once, one continues; the other is ABORTED and names the holder (%i)",
        async () => {
            const stacks = ["left", "right"];
            const ended = await Promise.all(stacks.map((one) => step("steady-state", one)));
            expect(ended.map(({ refused }) => refused).sort()).toEqual([false, true]);
            const winner = ended.findIndex(({ refused }) => !refused);
            const holder = `stack ${stacks[winner]} \\(.*\\) runs ${name}`;
            expect(ended[1 - winner]!.said).toMatch(
                new RegExp(
                    "ABORTED \\(namespace-busy\\): " +
                        `(${holder}|another experiment has just begun) in namespace ${namespace}`,
                ),
            );
            expect((await step("recovery", stacks[winner]!)).refused).toBe(false);
            expect(await stack.traces()).toEqual([]);
        },
    );

    it("while one stack's experiment is enabled, another's is ABORTED and touches nothing of the first", async () => {
        await stack.up({
            "experiment.enabled": "true",
            "experiment.duration": "2s",
            "experiment.grace": "1s",
            "experiment.interval": "250ms",
        });
        const { refused, said } = await step("steady-state", "other");
        expect(refused).toBe(true);
        expect(said).toMatch(
            new RegExp(
                "ABORTED \\(namespace-busy\\): " +
                    `stack ${namespace}/[0-9a-f]{16} \\(its application is in ${namespace}\\) runs ${name}`,
            ),
        );
        const [recovery, check] = await Promise.all([
            step("recovery", "other", { plan: planOfContent }),
            step("check", "other", checkOfEnded()),
        ]);
        expect(recovery.refused).toBe(false);
        expect(check.said).toContain("INCONCLUSIVE");
        expect(await stack.targets()).toHaveLength(1);
        expect((await stack.products()).good).toBe(false);
    });

    it("once it is disabled, the other stack's experiment may start", async () => {
        // With its other settings, by which the program knows what the run has checked.
        await stack.up({ "experiment.enabled": "false" });
        expect(await stack.traces()).toEqual([]);
        // The attack ends before all else in the update: the recovery does not count from the deletes at its end.
        const { recovery } = keptJournals(reportsFolder).find(
            ({ plan }) => plan.namespace === namespace && plan.run === "1",
        )!;
        expect(recovery!.recoveredAfterMs).toBeLessThan(4_000);
        expect(stack.said).toContain(`Ended the attacks of ${name}`);
        expect((await step("steady-state", "other")).refused).toBe(false);
        await step("recovery", "other");
        expect(await stack.traces()).toEqual([]);
    });
});
