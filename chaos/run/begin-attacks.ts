import { attackKindOf } from "../kinds/attacks/registry";
import { type Cluster, statusOf } from "../cluster/client";
import { labels } from "../cluster/labels";
import type { Plan } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { ofPlan } from "../ending/left";
import { decisive, reason, type Reason, ReasonError } from "../values/reasons";
import { describeLeftOut } from "../proof/outcome";
import { labelPods } from "../targets/pods";
import { type Begun, notSeen, whyBegunTooLate } from "./attacks-last";
import type { StepContext } from "./contract";

/**
 * Begins the attacks that do not begin by themselves, once all of these are ready. Notes what the proof does without.
 *
 * @returns why one has not begun, or that the attacks are over, and then none lasts
 * @throws ReasonError if one is not ready, and the run has no others that begin by themselves: nobody was attacked
 */
export async function beginAttacks({ plan, cluster, say }: StepContext, run: Begun): Promise<Reason | undefined> {
    const begun = run.attacks.filter(({ attack }) => attackKindOf(attack).begin !== undefined);
    if (begun.length === 0) return undefined;
    let problem: Reason | undefined;
    let isReady = false;
    try {
        const ready = await Promise.all(begun.map(async (one) => attackKindOf(one.attack).ready?.(one, cluster)));
        problem = decisive(ready.map((seen) => (seen && "code" in seen ? seen : undefined)));
        for (const [index, seen] of ready.entries()) {
            const { chosen } = begun[index]!;
            if (seen === undefined || "code" in seen || seen.leftOut.length === 0) continue;
            chosen.leftOut = [...(chosen.leftOut ?? []), ...seen.leftOut];
            say(describeLeftOut(seen.leftOut));
        }
        isReady = problem === undefined;
        if (isReady) for (const one of begun) await attackKindOf(one.attack).begin?.(one, cluster);
    } catch (error) {
        problem = notSeen(error);
    }
    const over = await endIfTooLate(plan, cluster, run, problem);
    // Whoever ends the run deletes the proxy.
    if (over?.code === "run-over" && problem?.code === "proxy-failed") return over;
    if (problem === undefined || over !== undefined || isReady || begun.length < run.attacks.length)
        return decisive([problem, over]);
    throw new ReasonError(problem.code, problem.message, "Start another run");
}

/**
 * In a namespace with other policies: gives the targets the label by which these stop selecting them, now that the
 * attacks' policies are there. Until then nobody may do more than before.
 *
 * @returns why the attacks are over: they may have been ended at this moment, and then no target keeps the label
 */
export async function labelAttacked({ plan, cluster }: StepContext, run: Begun): Promise<Reason | undefined> {
    const denying = run.attacks.filter(({ attack }) => attackKindOf(attack).denies !== undefined);
    if (denying.length === 0) return undefined;
    let problem: Reason | undefined;
    try {
        for (const { chosen } of denying)
            await labelPods(cluster, chosen.targets, () => ({ labels: { [labels.attacked]: chosen.chosenBy! } }));
    } catch (error) {
        const isGone = statusOf(error) === 404 || statusOf(error) === 409;
        problem = isGone
            ? reason("target-changed", "a target was gone before its attack could begin. Start another run")
            : notSeen(error);
    }
    return decisive([problem, await endIfTooLate(plan, cluster, run)]);
}

/** Why the attacks that were just begun are over. Then none lasts. Undefined while they may. */
async function endIfTooLate(plan: Plan, cluster: Cluster, run: Begun, seen?: Reason): Promise<Reason | undefined> {
    const over = await whyBegunTooLate(plan, cluster, run, seen);
    // The undo tries again what fails here.
    if (over !== undefined) await endAttacks(cluster, ofPlan(plan, run.runName)).catch(() => undefined);
    return over;
}
