import { attackKindOf } from "../attacks/registry";
import type { Answer } from "../checks/answer";
import { serviceAskedBy } from "../checks/registry";
import type { Cluster } from "../cluster/client";
import { selectorOf } from "../cluster/labels";
import type { Plan, RunAttack } from "../definition/plan";
import { reason, type Reason } from "../reasons";
import { isReady } from "../targets/containers";

/**
 * Why good answers of a Service say nothing: every pod behind it is cut off from its callers, and yet it answers. By
 * the NetworkPolicy specification, connections from a pod's own node are exempt. On a cluster of one node, all requests
 * of checks may come from there, through the API server's proxy or a load balancer's address.
 *
 * @param observed the answers of each check, in the order of the plan
 * @returns undefined if a check had a bad answer: the attack did reach it
 */
export async function whyAnsweredAllTheSame(
    plan: Plan,
    cluster: Cluster,
    attacks: readonly RunAttack[],
    observed: readonly { answers: readonly Answer[] }[],
): Promise<Reason | undefined> {
    const cutOff = uidsOfCutOff(attacks);
    if (cutOff.size === 0 || observed.some(({ answers }) => answers.some(({ good, unseen }) => !good && !unseen)))
        return undefined;
    for (const { name, check } of plan.checks) {
        const service = serviceAskedBy(check, plan);
        if (service?.namespace !== plan.namespace || !(await areAllAmong(cutOff, cluster, service))) continue;
        return reason(
            "attack-bypassed",
            `every pod behind the Service ${service.name} was cut off from other pods, and all requests of the check ` +
                `${name} to it still succeeded; check a Service that depends on this one, or attack fewer of its pods`,
        );
    }
    return undefined;
}

/** The pods that nobody but their node can connect to, on any port. */
function uidsOfCutOff(attacks: readonly RunAttack[]): Set<string> {
    const uids = attacks.flatMap(({ attack, chosen }) => {
        const { inward } = attackKindOf(attack).proof(attack);
        return inward && inward.ports === undefined ? chosen.targets.map(({ uid }) => uid) : [];
    });
    return new Set(uids);
}

/** Whether a Service has ready pods, and all of them are among some. False if that cannot be known. */
async function areAllAmong(
    uids: ReadonlySet<string>,
    { core }: Cluster,
    { namespace, name }: { namespace: string; name: string },
): Promise<boolean> {
    try {
        const { spec } = await core.readNamespacedService({ namespace, name });
        const labelSelector = selectorOf(spec?.selector ?? {});
        if (labelSelector === "") return false;
        const { items } = await core.listNamespacedPod({ namespace, labelSelector });
        const ready = items.filter((pod) => !pod.metadata!.deletionTimestamp && isReady(pod));
        return ready.length > 0 && ready.every(({ metadata }) => uids.has(metadata!.uid!));
    } catch {
        return false;
    }
}
