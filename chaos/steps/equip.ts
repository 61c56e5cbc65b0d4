import { type Attack, attackKindOf, mayStayUnproven } from "../attacks/registry";
import type { Plan, PlannedAttack } from "../definition/plan";
import { attackedEndpoints } from "../proof/connections";
import { findProbers } from "../proof/find-probers";
import { toolNames } from "../proof/tools";
import { decisive, reason, type Reason, ReasonError } from "../reasons";
import { remedy } from "../texts";
import type { Chosen } from "../targets/choose";
import type { Discovered } from "../targets/containers";
import type { StepContext } from "./contract";

/**
 * Finds out what connections can be tried with from within each attack's pods.
 *
 * @returns what was chosen, with that
 * @throws ReasonError if an attack could not be proven because a pod has no tool, or declares no port
 */
export async function equip(
    context: StepContext,
    chosen: readonly Chosen[],
    discovered: readonly Discovered[],
): Promise<Chosen[]> {
    const { plan, cluster } = context;
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
        if (pods === "") return [];
        const why = `no container of ${pods} declares a TCP port that it blocks`;
        return reason("no-port", `the attack ${name} could not be proven: ${why}`);
    });
    const reasons = [...portless, ...unproven.map(({ planned, lacking }) => whyUnproven(planned, lacking))];
    const advice = [
        ...(portless.length > 0 ? [adviceOnPorts] : []),
        ...(unproven.length > 0 ? [adviceOnTools(plan, unproven)] : []),
    ];
    const first = decisive(reasons);
    if (first) throw new ReasonError(first.code, reasons.map(({ message }) => message).join("; "), advice.join(". "));
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

function whyUnproven({ name, attack }: PlannedAttack, lacking: readonly string[]): Reason {
    const tools = toolNames(attackKindOf(attack).proof(attack).lookup ? "lookup" : "connect");
    const why = `no container of ${lacking.join(", ")} has a tool (${tools})`;
    return reason("no-tool", `the attack ${name} could not be proven: ${why}`);
}
