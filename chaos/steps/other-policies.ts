import type { V1NetworkPolicy } from "@kubernetes/client-node";
import { attackKindOf } from "../attacks/registry";
import { type Cluster, statusOf } from "../cluster/client";
import { change } from "../cluster/change";
import { labels } from "../cluster/labels";
import { objectApi } from "../cluster/objects";
import { resources } from "../cluster/resources";
import type { Plan, RunAttack } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { witnessPoliciesOf } from "../ending/left";
import { peersIn } from "../policies/denial";
import { type Combination, combine } from "../policies/combine";
import { nextExempting } from "../policies/exemption";
import { forClient, type PolicySpec } from "../policies/rules";
import { admitPrefix, jobPolicy, witnessPolicies, witnessRule } from "../policies/witness-access";

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
            const metadata = { name: `${admitPrefix(runName)}witness-${index + 1}`, namespace, labels: both };
            return create(cluster, { metadata, spec });
        }),
    );
}

/** Ends what `admitWitness` has begun. Never rejects: the end of the attacks does so, too. */
export async function dismissWitness(cluster: Cluster, plan: Plan): Promise<void> {
    await endAttacks(objectApi(cluster), witnessPoliciesOf(plan)).catch(() => undefined);
}

/** An attack, and what it makes of the namespace's policies. */
export interface CombinedAttack extends RunAttack {
    /** Undefined if it denies no traffic, or there are no policies. */
    combination?: Combination;
}

/** @throws Error as `combine` does */
export async function combined(
    { core }: Cluster,
    { namespace, experiment }: Plan,
    attacks: readonly RunAttack[],
    policies: readonly V1NetworkPolicy[],
): Promise<CombinedAttack[]> {
    if (policies.length === 0) return [...attacks];
    const { items } = await core.listNamespacedPod({ namespace });
    const pods = items.map(({ metadata, spec }) => ({ uid: metadata!.uid!, labels: metadata!.labels ?? {}, spec }));
    return attacks.map((one) => {
        const denial = attackKindOf(one.attack).denies?.(one.attack);
        if (denial === undefined) return one;
        const targets = pods.filter(({ uid }) => one.chosen.targets.some((target) => target.uid === uid));
        const by = { denial, peers: peersIn(one.chosen), witness: witnessRule(experiment) };
        return { ...one, combination: combine(policies, targets, by) };
    });
}

/** The number of the policy that combines an attack with the policies of a pod, as its label has it. */
export function combinedNumber(combination: Combination | undefined, uid: string): string | undefined {
    const index = combination?.combined.findIndex(({ pods }) => pods.includes(uid)) ?? -1;
    return index === -1 ? undefined : String(index + 1);
}

/**
 * Lets attacks work among policies, until their end.
 *
 * @param policies of the namespace, without those of experiments
 * @throws Error as `admit` of `AttackKind` does
 */
export async function admitAttacks(
    cluster: Cluster,
    attacks: readonly RunAttack[],
    policies: readonly V1NetworkPolicy[],
): Promise<void> {
    for (const attack of attacks) {
        const { name, namespace, experiment, run } = attack;
        const needed = (await attackKindOf(attack.attack).admit?.(attack, cluster, policies)) ?? [];
        await Promise.all(
            needed.map((spec, number) => {
                const metadata = {
                    name: `${admitPrefix(run)}${name}-${number}`,
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
export async function createCombined(cluster: Cluster, attacks: readonly CombinedAttack[]): Promise<void> {
    const policies = attacks.flatMap(({ object, label, namespace, experiment, combination }) =>
        (combination?.combined ?? []).map(({ rules }, index) => {
            const number = String(index + 1);
            const matchLabels = { [labels.target]: label, [labels.combined]: number };
            const matchExpressions = [{ key: labels.attacked, operator: "Exists" }];
            return {
                metadata: { name: `${object}-${number}`, namespace, labels: { [labels.experiment]: experiment } },
                spec: { podSelector: { matchLabels, matchExpressions }, ...rules },
            };
        }),
    );
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
