import type { V1NetworkPolicy, V1ObjectMeta } from "@kubernetes/client-node";
import { objectNameOf } from "../attacks/objects";
import { attackKindOf } from "../attacks/registry";
import { type Cluster, statusOf, unlessForbidden } from "../cluster/client";
import { change } from "../cluster/change";
import { labels } from "../cluster/labels";
import { objectApi } from "../cluster/objects";
import { resources } from "../cluster/resources";
import { type Plan, targetLabelFor } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { witnessPoliciesOf } from "../ending/left";
import type { Chosen } from "../targets/choose";
import { peersIn } from "../policies/denial";
import { type Combination, combine } from "../policies/combine";
import { proxyPolicies, refuseForeignCallers } from "../fault/access";
import type { Proxied } from "../targets/proxied";
import { nextExempting } from "../policies/exemption";
import { selects } from "../policies/selector";
import { forClient, type PolicySpec } from "../policies/rules";
import { jobPolicy, witnessPolicies, witnessPrefix, witnessRule } from "../policies/witness-access";

/** The NetworkPolicies of a namespace, without those of experiments. */
export async function otherPolicies({ networking }: Cluster, namespace: string): Promise<V1NetworkPolicy[]> {
    const { items } = await networking.listNamespacedNetworkPolicy({ namespace });
    return items.filter(({ metadata }) => !(labels.experiment in (metadata!.labels ?? {}) || isForWitness(metadata!)));
}

const isForWitness = ({ labels: of = {} }: { labels?: Record<string, string> }) => labels.witness in of;

/** Lets the deadline Job work in a namespace that has policies. Removed with the Job. */
export async function admitJob(cluster: Cluster, { experiment, namespace }: Plan, runName: string): Promise<void> {
    if ((await otherPolicies(cluster, namespace)).length === 0) return;
    const metadata = { name: `${runName}-job`, namespace, labels: { [labels.witness]: experiment } };
    await create(cluster, { metadata, spec: jobPolicy(experiment) });
}

/**
 * Lets pods and the deadline Job's pod connect to each other, until `dismissWitness` or the end of the attacks. Not
 * longer: their owners may take the other policies away, and these alone would cut the pods off.
 */
export async function admitWitness(
    cluster: Cluster,
    { experiment, namespace }: Plan,
    runName: string,
    policies: readonly V1NetworkPolicy[],
): Promise<void> {
    const both = { [labels.experiment]: experiment, [labels.witness]: experiment };
    await Promise.all(
        witnessPolicies(policies, experiment).map((spec, index) => {
            const metadata = { name: `${witnessPrefix(runName)}${index + 1}`, namespace, labels: both };
            return create(cluster, { metadata, spec });
        }),
    );
}

/** Ends what `admitWitness` has begun. Never rejects: the end of the attacks does so, too. */
export async function dismissWitness(cluster: Cluster, plan: Plan): Promise<void> {
    await endAttacks(objectApi(cluster), witnessPoliciesOf(plan)).catch(() => undefined);
}

/** What each attack makes of the namespace's policies, in the order of the plan. Undefined if it denies no traffic. */
export type Combinations = (Combination | undefined)[];

/** @throws Error as `combine` does */
export async function combinationsOf(
    cluster: Cluster,
    { attacks, namespace, experiment }: Plan,
    chosen: readonly Chosen[],
    policies: readonly V1NetworkPolicy[],
): Promise<Combinations> {
    if (policies.length === 0) return attacks.map(() => undefined);
    const { items } = await cluster.core.listNamespacedPod({ namespace });
    const pods = items.map(({ metadata }) => ({ uid: metadata!.uid!, labels: metadata!.labels ?? {} }));
    return attacks.map(({ attack }, index) => {
        const denial = attackKindOf(attack).denies?.(attack);
        if (denial === undefined) return undefined;
        const targets = pods.filter(({ uid }) => chosen[index]!.targets.some((target) => target.uid === uid));
        return combine(policies, targets, { denial, peers: peersIn(chosen[index]!), witness: witnessRule(experiment) });
    });
}

/** The number of the policy that combines an attack with the policies of a pod, as its label has it. */
export function combinedNumber(combination: Combination | undefined, uid: string): string | undefined {
    const index = combination?.combined.findIndex(({ pods }) => pods.includes(uid)) ?? -1;
    return index === -1 ? undefined : String(index + 1);
}

/**
 * Lets the proxies of faults work among policies, until the end of the attacks.
 *
 * @param policies of the namespace, without those of experiments
 * @throws Error as `proxyPolicies` and `refuseForeignCallers` do
 */
export async function admitProxies(
    cluster: Cluster,
    plan: Plan,
    runName: string,
    { proxied, policies }: { proxied: readonly (Proxied | undefined)[]; policies: readonly V1NetworkPolicy[] },
): Promise<void> {
    const { experiment, namespace, attacks } = plan;
    if (proxied.every((one) => one === undefined)) return;
    const { core, networking } = cluster;
    const [all, own, everywhere] = await Promise.all([
        core.listNamespacedPod({ namespace }),
        core.readNamespace({ name: namespace }),
        // A person may have rights in one namespace and nowhere else.
        unlessForbidden(networking.listNetworkPolicyForAllNamespaces()),
    ]);
    const labelsOf = ({ metadata }: { metadata?: V1ObjectMeta }) => metadata!.labels ?? {};
    for (const [index, found] of proxied.entries()) {
        if (found === undefined) continue;
        const { name } = attacks[index]!;
        const access = {
            proxied: found,
            proxy: objectNameOf(runName, name),
            experiment,
            pods: all.items.map(labelsOf).filter((of) => selects({ matchLabels: found.selector }, of)),
            namespace: labelsOf(own),
        };
        refuseForeignCallers(everywhere?.items ?? [], access);
        if (policies.length === 0) continue;
        await Promise.all(
            proxyPolicies(policies, access).map((spec, number) => {
                const metadata = {
                    name: `${witnessPrefix(runName)}${name}-${number}`,
                    namespace,
                    labels: { [labels.experiment]: experiment },
                };
                return create(cluster, { metadata, spec });
            }),
        );
    }
}

/**
 * Creates the policies that combine attacks with those of the namespace. They select targets as soon as the others let
 * go of them, and allow nothing that those do not, but for connections with the deadline Job's pod.
 */
export async function createCombined(
    cluster: Cluster,
    plan: Plan,
    runName: string,
    combinations: Combinations,
): Promise<void> {
    const { experiment, namespace } = plan;
    const policies = combinations.flatMap((combination, attackIndex) => {
        const planned = plan.attacks[attackIndex]!;
        return (combination?.combined ?? []).map(({ rules }, index) => {
            const number = String(index + 1);
            const name = `${objectNameOf(runName, planned.name)}-${number}`;
            const matchLabels = { [labels.target]: targetLabelFor(plan, planned), [labels.combined]: number };
            const matchExpressions = [{ key: labels.attacked, operator: "Exists" }];
            return {
                metadata: { name, namespace, labels: { [labels.experiment]: experiment } },
                spec: { podSelector: { matchLabels, matchExpressions }, ...rules },
            };
        });
    });
    await Promise.all(policies.map((policy) => create(cluster, policy)));
}

/** Makes policies let go of pods under attack, until they are restored. */
export async function exemptFrom(cluster: Cluster, policies: readonly V1NetworkPolicy[], run: string): Promise<void> {
    for (const policy of policies) {
        const { name, namespace } = policy.metadata as { name: string; namespace: string };
        const object = { resource: resources.networkPolicy, namespace, name };
        await change(objectApi(cluster), object, (current) => nextExempting(current, run), policy);
    }
}

async function create(
    { networking }: Cluster,
    { metadata, spec }: { metadata: { name: string; namespace: string; labels: object }; spec: PolicySpec },
): Promise<void> {
    const body = { metadata, spec: forClient(spec) } as V1NetworkPolicy;
    try {
        await networking.createNamespacedNetworkPolicy({ namespace: metadata.namespace, body });
    } catch (error) {
        // This step has been killed once, and is done again.
        if (statusOf(error) !== 409) throw error;
    }
}
