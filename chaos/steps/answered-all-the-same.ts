import { attackKindOf } from "../attacks/registry";
import type { Answer } from "../checks/answer";
import { serviceAskedBy } from "../checks/registry";
import type { Cluster } from "../cluster/client";
import { portNumberIn } from "../cluster/kubernetes-rules";
import { selectorOf } from "../cluster/labels";
import type { Plan, RunAttack } from "../definition/plan";
import { reason, type Reason } from "../reasons";
import { isReady, type Pod } from "../targets/containers";

/**
 * Why good answers of a Service say nothing: pods behind it are cut off from its callers, and yet all requests to it
 * succeed. By the NetworkPolicy specification, connections from a pod's own node are exempt. On a cluster of one node,
 * all requests of checks may come from there, through the API server's proxy or a load balancer's address. Other
 * callers, in the cluster, lose their share.
 *
 * @param observed the answers of each check, in the order of the plan
 * @returns undefined for a check that had a bad answer: the attack did reach it
 */
export async function whyAnsweredAllTheSame(
    plan: Plan,
    cluster: Cluster,
    attacks: readonly RunAttack[],
    observed: readonly { answers: readonly Answer[] }[],
): Promise<Reason | undefined> {
    const cutOff = portsCutOff(attacks);
    if (cutOff.size === 0) return undefined;
    for (const [index, { name, check }] of plan.checks.entries()) {
        if (observed[index]?.answers.some(({ good, unseen }) => !good && !unseen)) continue;
        const service = serviceAskedBy(check, plan);
        if (service?.namespace !== plan.namespace) continue;
        const [number, all] = await countBehind(service, cutOff, cluster).catch(() => [0, 0] as const);
        if (number === 0) continue;
        const [pods, were] =
            number === all ? ["every pod", "was"] : [`${number} of ${all} ready pods`, number === 1 ? "was" : "were"];
        return reason(
            "attack-bypassed",
            `${pods} behind the Service ${service.name} ${were} cut off from other pods, and all requests of the ` +
                `check ${name} to it still succeeded: they did not meet the attack; check a Service that depends on ` +
                "this one",
        );
    }
    return undefined;
}

/** By uid, the ports of pods that nobody but their node can connect to. */
function portsCutOff(attacks: readonly RunAttack[]): Map<string, readonly number[] | "all"> {
    const cutOff = attacks.flatMap(({ attack, chosen }) => {
        const { inward } = attackKindOf(attack).proof(attack);
        return inward ? chosen.targets.map(({ uid }) => [uid, inward.ports ?? "all"] as const) : [];
    });
    return new Map(cutOff);
}

/**
 * How many of a Service's ready pods are cut off at all of its ports, and how many are ready.
 *
 * @throws Error if the account may not look
 */
async function countBehind(
    { namespace, name }: { namespace: string; name: string },
    cutOff: ReadonlyMap<string, readonly number[] | "all">,
    { core }: Cluster,
): Promise<readonly [cutOff: number, all: number]> {
    const { spec } = await core.readNamespacedService({ namespace, name });
    const labelSelector = selectorOf(spec?.selector ?? {});
    if (labelSelector === "") return [0, 0];
    const { items } = await core.listNamespacedPod({ namespace, labelSelector });
    const ready = items.filter((pod) => !pod.metadata!.deletionTimestamp && isReady(pod));
    const targets = (pod: Pod) =>
        (spec?.ports ?? []).flatMap(({ port, targetPort = port }) => portNumberIn(pod, targetPort) ?? []);
    const those = ready.filter((pod) => {
        const ports = cutOff.get(pod.metadata!.uid!);
        if (ports === undefined || ports === "all") return ports === "all";
        const asked = targets(pod);
        return asked.length > 0 && asked.every((port) => ports.includes(port));
    });
    return [those.length, ready.length];
}
