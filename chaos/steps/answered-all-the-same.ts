import { attackKindOf } from "../attacks/registry";
import type { Answer } from "../checks/answer";
import { serviceAskedBy, urlAskedBy } from "../checks/registry";
import { serviceAt } from "../checks/route";
import type { Cluster } from "../cluster/client";
import { endpointsIn, isAt } from "../cluster/service-endpoints";
import type { Plan, RunAttack } from "../definition/plan";
import { reason, type Reason } from "../reasons";

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
    const cutOff = whatIsCutOff(attacks);
    if (cutOff.length === 0) return undefined;
    for (const [index, { name, check }] of plan.checks.entries()) {
        if (observed[index]?.answers.some(({ good, unseen }) => !good && !unseen)) continue;
        const url = urlAskedBy(check);
        const service =
            serviceAskedBy(check, plan) ??
            (url && (await serviceAt(cluster, plan.namespace, url).catch(() => undefined)));
        if (!service || service.namespace !== plan.namespace) continue;
        const [number, all] = await countBehind(service, cutOff, cluster).catch(() => [0, 0] as const);
        if (number === 0) continue;
        const [endpoints, were] =
            number === all
                ? ["every endpoint", "was"]
                : [`${number} of ${all} ready endpoints`, number === 1 ? "was" : "were"];
        return reason(
            "attack-bypassed",
            `${endpoints} of the Service ${service.name} ${were} cut off from other pods, and all requests of the ` +
                `check ${name} to it still succeeded: they did not meet the attack; check a Service that depends on ` +
                "this one",
        );
    }
    return undefined;
}

/** Targets that nobody but their node can connect to, with the ports at which that is so. */
function whatIsCutOff(attacks: readonly RunAttack[]) {
    return attacks.flatMap(({ attack, chosen }) => {
        const { inward } = attackKindOf(attack).proof(attack);
        return inward ? chosen.targets.map((target) => ({ target, ports: inward.ports ?? ("all" as const) })) : [];
    });
}

/** How many of a Service's ready endpoints are cut off at all of its ports, and how many are ready. */
async function countBehind(
    { namespace, name }: { namespace: string; name: string },
    cutOff: ReturnType<typeof whatIsCutOff>,
    cluster: Cluster,
): Promise<readonly [cutOff: number, all: number]> {
    const ready = (await endpointsIn(cluster, namespace, name)).filter((one) => one.ready);
    // A pod with addresses of both families is in two slices.
    const each = [...new Map(ready.map((one) => [one.uid ?? one.addresses[0], one])).values()];
    const those = each.filter((one) => {
        const { ports = [] } = cutOff.find(({ target }) => isAt(one, target)) ?? {};
        return ports === "all" || (one.ports.length > 0 && one.ports.every((port) => ports.includes(port)));
    });
    return [those.length, each.length];
}
