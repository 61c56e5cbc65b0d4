import { attackKindOf } from "../attacks/registry";
import type { Answer } from "../checks/answer";
import { serviceAskedBy } from "../checks/registry";
import { type NamedService, tcpPortsMeant } from "../checks/route";
import { poll } from "../async";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { hasEnded, isReady, type Pod, portNumberIn } from "../cluster/kubernetes-rules";
import { selectorOf } from "../cluster/labels";
import type { Plan, RunAttack } from "../definition/plan";
import { reason, type Reason } from "../reasons";
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
    const cutOff = portsCutOff(attacks);
    if (cutOff.size === 0) return undefined;
    for (const [index, { name, check }] of plan.checks.entries()) {
        if (observed[index]?.answers.some(({ good, unseen }) => !good && !unseen)) continue;
        const service = serviceAskedBy(check, plan);
        if (service?.namespace !== plan.namespace) continue;
        const seen = await seeBehind(service, cutOff, cluster);
        if ("code" in seen) return seen;
        const { number, all, what } = seen;
        if (number === 0) continue;
        const [pods, were] =
            number === all ? ["every pod", "was"] : [`${number} of ${all} ${what}`, number === 1 ? "was" : "were"];
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

interface Behind {
    /** How many of a Service's pods are cut off at the port that is asked. */
    number: number;
    /** How many it sends requests to. */
    all: number;
    /** What these are called. */
    what: "pods" | "ready pods";
}

const none: Behind = { number: 0, all: 0, what: "pods" };
/** How long it is asked again what the API server did not say, in milliseconds. */
const triesMs = 5_000;

/** None if the account may not look. @returns why it is not known, if the API server does not say */
async function seeBehind(...args: Parameters<typeof countBehind>): Promise<Behind | Reason> {
    const look = () => unlessForbidden(countBehind(...args)).catch((error: unknown) => notSeen(error).inconclusive);
    const seen = await poll(look, (one) => one === undefined || !("code" in one), triesMs, 1_000);
    if (seen === undefined || !("code" in seen)) return seen ?? none;
    return reason(seen.code, `it is not known which pods are behind the Service ${args[0].name}: ${seen.message}`);
}

/** @throws Error if the account may not look, or the API server does not say */
async function countBehind(
    { namespace, name, port }: Pick<NamedService, "namespace" | "name" | "port">,
    cutOff: ReadonlyMap<string, readonly number[] | "all">,
    { core }: Cluster,
): Promise<Behind> {
    const service = await core.readNamespacedService({ namespace, name });
    const { selector = {}, publishNotReadyAddresses } = service.spec ?? {};
    const labelSelector = selectorOf(selector);
    if (labelSelector === "") return none;
    const { items } = await core.listNamespacedPod({ namespace, labelSelector });
    const asked = items.filter((pod) =>
        publishNotReadyAddresses ? !hasEnded(pod) : !pod.metadata!.deletionTimestamp && isReady(pod),
    );
    const targets = (pod: Pod) =>
        tcpPortsMeant(service, port).flatMap(({ port, targetPort = port }) => portNumberIn(pod, targetPort) ?? []);
    const those = asked.filter((pod) => {
        const ports = cutOff.get(pod.metadata!.uid!);
        if (ports === undefined || ports === "all") return ports === "all";
        const meant = targets(pod);
        return meant.length > 0 && meant.every((port) => ports.includes(port));
    });
    return { number: those.length, all: asked.length, what: publishNotReadyAddresses ? "pods" : "ready pods" };
}
