import { type Attack, attackKindOf, mayStayUnproven } from "../attacks/registry";
import type { Plan, PlannedAttack } from "../definition/plan";
import { attackedEndpoints } from "../proof/connections";
import { findProbers } from "../proof/find-probers";
import { toolNames } from "../proof/tools";
import { remedy } from "../texts";
import type { Chosen } from "../targets/choose";
import type { Discovered } from "../targets/containers";
import { abortRun } from "./abort-run";
import type { StepContext } from "./contract";

/**
 * Finds out what connections can be tried with from within each attack's pods.
 *
 * @returns what was chosen, with that
 * @throws Error if an attack could not be proven because a pod has no tool, or declares no port: the run is ABORTED
 */
export async function equip(
    context: StepContext,
    chosen: readonly Chosen[],
    discovered: readonly Discovered[],
): Promise<Chosen[]> {
    const { plan, cluster } = context;
    const startedAt = Date.now();
    const found = await Promise.all(
        plan.attacks.map(({ attack }, index) =>
            findProbers(cluster, attackKindOf(attack).proof(attack), chosen[index]!, discovered),
        ),
    );
    const unproven = plan.attacks.flatMap((planned, index) => {
        const { lacking } = found[index]!;
        return lacking.length === 0 || planned.outward === "unproven" ? [] : [{ planned, lacking }];
    });
    const portless = plan.attacks.flatMap(({ name, attack }, index) => {
        const pods = podsWithoutPort(attack, chosen[index]!).join(", ");
        const why = "declares a TCP port that it blocks";
        return pods === "" ? [] : `the attack ${name} could not be proven: no container of ${pods} ${why}.`;
    });
    const reasons = [...portless, ...unproven.map(({ planned, lacking }) => whyUnproven(planned, lacking))];
    const advice = [
        ...(portless.length > 0 ? [adviceOnPorts] : []),
        ...(unproven.length > 0 ? [adviceOnTools(plan, unproven)] : []),
    ];
    if (reasons.length > 0) abortRun(context, { reason: reasons.join(" "), startedAt, advice: advice.join(". ") });
    return found.map(({ chosen: one, lacking }, index) => {
        if (lacking.length === 0) return one;
        const of = plan.attacks.length === 1 ? "" : ` of ${plan.attacks[index]!.name}`;
        context.say(`Outward${of} cannot be proven, which the experiment accepts: no tool in ${lacking.join(", ")}`);
        return { ...one, withoutTool: lacking };
    });
}

/** The targets' pods that declare no port at which the attack could be seen. None if it does not deny connections. */
function podsWithoutPort(attack: Attack, { targets }: Chosen): string[] {
    const { inward } = attackKindOf(attack).proof(attack);
    if (inward === undefined) return [];
    const shown = new Set(targets.filter((one) => attackedEndpoints([one], inward).length > 0).map(({ pod }) => pod));
    return [...new Set(targets.map(({ pod }) => pod))].filter((pod) => !shown.has(pod));
}

const adviceOnPorts = 'Declare the ports of each target, choose other targets, or a blackhole of direction "egress"';

function adviceOnTools(plan: Plan, unproven: readonly { planned: PlannedAttack }[]): string {
    const remedies = unproven.every(({ planned }) => mayStayUnproven(planned.attack))
        ? `If it is enough to prove that nothing reaches the targets: ${remedy(plan, "outward", "unproven")}`
        : 'Or choose an attack whose proof needs no tool, such as a blackhole of direction "ingress"';
    return `Give the pod a container with one of these tools; all containers of a pod count. ${remedies}`;
}

function whyUnproven({ name, attack }: PlannedAttack, lacking: readonly string[]): string {
    const tools = toolNames(attackKindOf(attack).proof(attack).lookup ? "lookup" : "connect");
    return `the attack ${name} could not be proven: no container of ${lacking.join(", ")} has a tool (${tools}).`;
}
