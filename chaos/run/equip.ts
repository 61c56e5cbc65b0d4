import { type Attack, attackKindOf, mayStayUnproven } from "../kinds/attacks/registry";
import type { Plan, RunAttack } from "../definition/plan";
import { attackedEndpoints } from "../proof/trials";
import { findProbers, kindsFor, type Lacking } from "../proof/find-probers";
import { toolNames } from "../proof/tools";
import { decisive, reason, type Reason, ReasonError } from "../values/reasons";
import { remedy } from "../values/texts";
import type { Discovered } from "../targets/containers";
import type { StepContext } from "./contract";

/**
 * Finds out what connections can be tried with from within each attack's pods.
 *
 * @returns the attacks, with that
 * @throws ReasonError if an attack could not be proven because a pod has no tool, or declares no port
 */
export async function equip(
    { plan, cluster, say }: StepContext,
    attacks: readonly RunAttack[],
    discovered: readonly Discovered[],
): Promise<RunAttack[]> {
    const equipped = await Promise.all(
        attacks.map(async (one) => {
            const proof = attackKindOf(one.attack).proof(one.attack);
            const { chosen, lacking: found } = await findProbers(cluster, proof, one.chosen, discovered);
            // A failure alone shows no lack: the baseline tries again what must be proven.
            const lacking = found.filter(({ failure }) => failure === undefined || one.outward === "unproven");
            const withoutTool = lacking.map(({ pod }) => pod);
            return { ...one, chosen: { ...chosen, ...(lacking.length > 0 && { withoutTool }) }, lacking };
        }),
    );
    const unproven = equipped.filter(({ outward, lacking }) => lacking.length > 0 && outward !== "unproven");
    const portless = equipped.flatMap((one) => whyPortless(one) ?? []);
    const reasons = [...portless, ...unproven.map(whyUnproven)];
    const advice = [
        ...(portless.length > 0 ? [adviceOnPorts] : []),
        ...(unproven.length > 0 ? [adviceOnTools(plan, unproven)] : []),
    ];
    const first = decisive(reasons);
    if (first) throw new ReasonError(first.code, reasons.map(({ message }) => message).join("; "), advice.join(". "));
    for (const { name, attack, lacking } of equipped) {
        if (lacking.length === 0) continue;
        const of = attacks.length === 1 ? "" : ` of ${name}`;
        say(`Outward${of} cannot be proven, which the experiment accepts: ${whyUntried(attack, lacking).message}`);
    }
    return equipped.map(({ lacking: _, ...one }) => one);
}

/** Why an attack could not be seen: targets' pods declare no port. Undefined if it does not deny connections. */
function whyPortless({ name, attack, chosen: { targets } }: RunAttack): Reason | undefined {
    const { inward } = attackKindOf(attack).proof(attack);
    if (inward === undefined) return undefined;
    const shown = new Set(targets.filter((one) => attackedEndpoints([one], inward).length > 0).map(({ pod }) => pod));
    const pods = [...new Set(targets.map(({ pod }) => pod))].filter((pod) => !shown.has(pod));
    if (pods.length === 0) return undefined;
    const why =
        `no container of ${pods.join(", ")} declares or probes a TCP port that it blocks, and no Service of its ` +
        "namespace leads to one";
    return reason("no-port", `the attack ${name} could not be proven: ${why}`);
}

const adviceOnPorts = 'Declare a port of each target, choose other targets, or a blackhole of direction "egress"';

type Equipped = RunAttack & { lacking: readonly Lacking[] };

function adviceOnTools(plan: Plan, unproven: readonly Equipped[]): string {
    const remedies = unproven.every(({ attack }) => mayStayUnproven(attack))
        ? `If it is enough to prove that nothing reaches the targets: ${remedy(plan, "outward", "unproven")}`
        : 'Or choose an attack whose proof needs no tool, such as a blackhole of direction "ingress"';
    const all = unproven.flatMap(({ lacking }) => lacking);
    const first = [
        all.some(({ refusal }) => refusal !== undefined) &&
            "Let commands be run in these pods, or choose targets in another namespace",
        all.some(({ refusal }) => refusal === undefined) &&
            "Give the pod a container with one of these tools; all containers of a pod count",
    ];
    return [...first.filter(Boolean), remedies].join(". ");
}

function whyUnproven({ name, attack, lacking }: Equipped): Reason {
    const { code, message } = whyUntried(attack, lacking);
    return reason(code, `the attack ${name} could not be proven: ${message}`);
}

/** Why nothing can be tried from within some pods. */
function whyUntried(attack: Attack, lacking: readonly Lacking[]): Reason {
    const refused = lacking.filter(({ refusal }) => refusal !== undefined);
    const failed = lacking.filter(({ refusal, failure }) => refusal === undefined && failure !== undefined);
    const toolless = lacking.filter(({ refusal, failure }) => (refusal ?? failure) === undefined);
    const tools = toolNames(kindsFor(attackKindOf(attack).proof(attack)));
    const why = [
        refused.length > 0 && `nothing may be run in ${podsOf(refused)}: ${refused[0]!.refusal}`,
        failed.length > 0 && `nothing could be run in ${podsOf(failed)}: ${failed[0]!.failure}`,
        toolless.length > 0 && `no container of ${podsOf(toolless)} has a tool (${tools})`,
    ];
    return reason(refused.length > 0 ? "exec-refused" : "no-tool", why.filter(Boolean).join("; "));
}

const podsOf = (lacking: readonly Lacking[]) => lacking.map(({ pod }) => pod).join(", ");
