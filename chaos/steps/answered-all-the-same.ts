import { attackKindOf } from "../attacks/registry";
import type { Answer } from "../checks/answer";
import { poll } from "../async";
import { serviceAskedBy, urlAskedBy } from "../checks/registry";
import { type NamedService, serviceAt } from "../checks/route";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { endpointsIn, isAt, tcpPortsMeant } from "../cluster/service-endpoints";
import type { Plan, RunAttack } from "../definition/plan";
import { reason, type Reason } from "../reasons";
import type { Target } from "../targets/containers";
import { notSeen } from "./attacks-last";

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
        const seen = await seeBehind(service, cutOff, cluster);
        if ("code" in seen) return seen;
        const [number, all] = seen;
        if (number === 0) continue;
        const [endpoints, were] =
            number === all
                ? ["every ready endpoint", "was"]
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

/** A target that nobody but its node can connect to. */
interface CutOff {
    target: Target;
    /** The TCP ports at which that is so. */
    ports: readonly number[] | "all";
}

function whatIsCutOff(attacks: readonly RunAttack[]): CutOff[] {
    return attacks.flatMap(({ attack, chosen }) => {
        const { inward } = attackKindOf(attack).proof(attack);
        return inward ? chosen.targets.map((target) => ({ target, ports: inward.ports ?? ("all" as const) })) : [];
    });
}

type AskedService = Pick<NamedService, "namespace" | "name" | "port">;
type Counted = readonly [cutOff: number, all: number];

/** How long it is asked again what the API server did not say, in milliseconds. */
const triesMs = 5_000;

/** None if the account may not look. @returns why it is not known, if the API server does not say */
async function seeBehind(
    service: AskedService,
    cutOff: readonly CutOff[],
    cluster: Cluster,
): Promise<Counted | Reason> {
    const look = (): Promise<Counted | Reason | undefined> =>
        unlessForbidden(countBehind(service, cutOff, cluster)).catch((error: unknown) => notSeen(error).inconclusive);
    const seen = await poll(look, (one) => one === undefined || !("code" in one), triesMs, 1_000);
    if (seen === undefined || !("code" in seen)) return seen ?? ([0, 0] as const);
    return reason(seen.code, `it is not known which endpoints the Service ${service.name} has: ${seen.message}`);
}

/** How many of a Service's ready endpoints are cut off at the port that is asked, and how many are ready. */
async function countBehind(
    { namespace, name, port }: AskedService,
    cutOff: readonly CutOff[],
    cluster: Cluster,
): Promise<Counted> {
    const service = await cluster.core.readNamespacedService({ namespace, name });
    const meant = tcpPortsMeant(service, port).map((one) => one.name ?? "");
    const ready = (await endpointsIn(cluster, namespace, name)).filter((one) => one.ready);
    // A pod with addresses of both families is in two slices.
    const each = [...new Map(ready.map((one) => [one.uid ?? one.addresses[0], one])).values()];
    const those = each.filter((one) => {
        const { ports = [] } = cutOff.find(({ target }) => isAt(one, target)) ?? {};
        if (ports === "all") return true;
        const asked = one.ports.filter(({ name }) => meant.includes(name));
        return asked.length > 0 && asked.every(({ port }) => ports.includes(port));
    });
    return [those.length, each.length];
}
