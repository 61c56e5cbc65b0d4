import type { V1NetworkPolicy, V1ObjectMeta, V1OwnerReference } from "../values/kubernetes-types";
import { refuseKeptFromProxy } from "../kinds/attacks/conflicts";
import { attackKindOf } from "../kinds/attacks/registry";
import { type Cluster, statusOf } from "../cluster/client";
import { isOthersPolicy, labels, targetLabels } from "../cluster/labels";
import { lend } from "../cluster/lend";
import { resources } from "../cluster/resources";
import type { Plan, RunAttack } from "../definition/plan";
import { endAttacks } from "../ending/end";
import { witnessPoliciesOf } from "../ending/left";
import { jobPolicyName } from "../ending/scope";
import { type NewPolicy, noteOf, type OwnPolicy, ownPolicy } from "../policies/own-policies";
import { peersIn } from "../policies/denial";
import { type Combination, combine } from "../policies/combine";
import { exemptedPolicy, exempting } from "../policies/exemption";
import type { PolicySpec } from "../policies/rules";
import { besidePolicies, jobPolicy, witnessPolicies, witnessRule } from "../policies/witness-access";
import { abortIfRejected } from "./rejected-change";

/** The NetworkPolicies of a namespace that are others' for a run. */
export async function otherPolicies(cluster: Cluster, namespace: string, run: string): Promise<V1NetworkPolicy[]> {
    const items = await cluster.all(resources.networkPolicy, { namespace });
    return items.filter((policy) => isOthersPolicy(policy, run));
}

/** A run whose deadline Job is let through. */
export interface Admitted {
    cluster: Cluster;
    plan: Plan;
    runName: string;
    /** See `labels.pass`. */
    pass: string;
    /** The policy that lets the Job through. It owns the others that the steps make: they go with it. */
    owner: V1OwnerReference;
}

/** The policy that lets the deadline Job through. */
export const policyOfJob = ({ experiment, namespace }: Plan, runName: string, pass: string) => ({
    metadata: { name: jobPolicyName(runName), namespace, labels: { [labels.witness]: experiment } },
    spec: jobPolicy(pass),
});

/**
 * Lets the deadline Job through, whether or not other policies are there yet: one that comes during the run must not
 * keep it from ending the attacks. Its policy goes with the Job's rights, which the Job gives up at its end. Not with
 * the Job: if somebody deleted that, the policies of this one would go too, while a fault's Service still leads to its
 * proxy.
 *
 * @param job name of the Job, and of its RoleBinding
 */
export async function admitJob(run: Omit<Admitted, "owner">, job: string): Promise<Admitted> {
    const { cluster, plan, runName, pass } = run;
    const { metadata, spec } = policyOfJob(plan, runName, pass);
    const binding = await cluster.read({ resource: resources.roleBinding, name: job, namespace: plan.namespace });
    const { uid } = binding.metadata!;
    const owner = {
        apiVersion: "rbac.authorization.k8s.io/v1",
        kind: resources.roleBinding.kind,
        name: job,
        uid: uid!,
    };
    const made = await create(cluster, { metadata: { ...metadata, ownerReferences: [owner] }, spec });
    const { kind } = resources.networkPolicy;
    const { name } = metadata;
    return { ...run, owner: { apiVersion: "networking.k8s.io/v1", kind, name, uid: made.metadata!.uid! } };
}

/**
 * Lets pods and the deadline Job's pod connect to each other, until `dismissWitness` or the end of the attacks. Not
 * longer: their owners may take the other policies away, and these alone would cut the pods off.
 */
export async function admitWitness(
    run: Admitted,
    policies: readonly V1NetworkPolicy[],
    attacked: string,
): Promise<OwnPolicy[]> {
    const specs = witnessPolicies(policies, run.pass, attacked);
    const forWitness = { [labels.witness]: run.plan.experiment };
    return Promise.all(
        specs.map((spec, index) => createOwn(run, `${run.runName}-admit-witness-${index + 1}`, spec, forWitness)),
    );
}

/** Lets pods of the namespace accept what actions have beside the run, until its end. */
export async function admitBesides(run: Admitted, policies: readonly V1NetworkPolicy[]): Promise<void> {
    const { plan, runName, pass } = run;
    const specs = besidePolicies(policies, pass);
    const named = (index: number) => `${runName}-admit-beside-${index + 1}`;
    const more = { [labels.beside]: plan.experiment };
    await Promise.all(specs.map((spec, index) => createOwn(run, named(index), spec, more)));
}

/** Ends what `admitWitness` has begun. Never rejects: the end of the attacks does so, too. */
export async function dismissWitness(cluster: Cluster, plan: Plan): Promise<void> {
    await endAttacks(cluster, witnessPoliciesOf(plan)).catch(() => undefined);
}

/** What each attack that denies traffic makes of the namespace's policies, by its name. */
type Combinations = ReadonlyMap<string, Combination>;

/** @throws Error as `combine` does */
export async function combinationsOf(
    { cluster, plan: { namespace }, pass }: Admitted,
    attacks: readonly RunAttack[],
    policies: readonly V1NetworkPolicy[],
): Promise<Combinations> {
    if (policies.length === 0) return new Map();
    const items = await cluster.all(resources.pod, { namespace });
    const pods = items.map(({ metadata, spec }) => ({ uid: metadata!.uid!, labels: metadata!.labels ?? {}, spec }));
    const combinations = attacks.flatMap(({ name, attack, chosen }) => {
        const denial = attackKindOf(attack).denies?.(attack);
        if (denial === undefined) return [];
        const targets = pods.filter(({ uid }) => chosen.targets.some((target) => target.uid === uid));
        const by = { denial, peers: peersIn(chosen), witness: witnessRule(pass) };
        return [[name, combine(policies, targets, by)] as const];
    });
    return new Map(combinations);
}

/** The number of the policy that combines an attack with the policies of a pod, as its label has it. */
export function combinedNumber(combination: Combination | undefined, uid: string): string | undefined {
    const index = combination?.combined.findIndex(({ pods }) => pods.includes(uid)) ?? -1;
    return index === -1 ? undefined : String(index + 1);
}

/**
 * Lets attacks work among policies, those that come during the run included, until their end.
 *
 * @param policies of others in the namespace
 * @throws Error as `admit` of `AttackKind` does
 * @throws ReasonError as `refuseKeptFromProxy` does
 */
export async function admitAttacks(
    run: Admitted,
    attacks: readonly RunAttack[],
    policies: readonly V1NetworkPolicy[],
): Promise<OwnPolicy[]> {
    const { cluster, plan, runName, pass } = run;
    const admitting = attacks.map(async (attack) => ({
        attack,
        needed: (await attackKindOf(attack.attack).admit?.(attack, cluster, { policies, pass })) ?? [],
    }));
    const admitted = await Promise.all(admitting);
    const isAmongOthers = attacks.length > 1 && admitted.some(({ needed }) => needed.length > 0);
    if (isAmongOthers) {
        const items = await cluster.all(resources.pod, { namespace: plan.namespace });
        refuseKeptFromProxy(admitted, attacks, items);
    }
    const named = ({ name }: RunAttack, number: number) => `${runName}-admit-${name}-${number}`;
    return Promise.all(
        admitted.flatMap(({ attack, needed }) =>
            needed.map((spec, number) => createOwn(run, named(attack, number), spec)),
        ),
    );
}

/**
 * Creates the policies that combine attacks with those of the namespace. They select targets as soon as the others let
 * go of them, and allow nothing that those do not, but for connections with the deadline Job's pod. The Job does not
 * own them: if somebody deleted it, no policy would select the targets any more.
 */
export async function createCombined(
    run: Admitted,
    attacks: readonly RunAttack[],
    combinations: Combinations,
): Promise<OwnPolicy[]> {
    const policies = attacks.flatMap(({ name, object, label, chosen: { chosenBy } }) =>
        (combinations.get(name)?.combined ?? []).map(({ rules, from }, index) => {
            const number = String(index + 1);
            const under = { [labels.combined]: number, [labels.attacked]: chosenBy! };
            const podSelector = { matchLabels: { ...targetLabels(label, chosenBy!), ...under } };
            return createOwn(run, `${object}-${number}`, { from, spec: { podSelector, ...rules } });
        }),
    );
    return Promise.all(policies);
}

/**
 * Makes policies stop selecting pods under attack, until they are restored.
 *
 * @throws ReasonError if somebody rejects that
 */
export async function exemptFrom(
    cluster: Cluster,
    policies: readonly V1NetworkPolicy[],
    run: string,
    attacked: string,
): Promise<void> {
    for (const policy of policies) {
        const { name, namespace } = policy.metadata as { name: string; namespace: string };
        const object = { resource: resources.networkPolicy, namespace, name };
        await lend(cluster, object, exemptedPolicy, exempting(run, attacked), policy).catch(
            abortIfRejected(
                "attack-refused",
                `NetworkPolicy ${name} allows what the attack denies, and may not be changed`,
                "Allow the change, or choose targets that it does not select",
            ),
        );
    }
}

/** Makes a policy that ends with the Job's. @param more labels besides the experiment's */
async function createOwn(
    { cluster, plan, owner }: Admitted,
    name: string,
    { spec, annotations = {}, ...restsOn }: NewPolicy,
    more?: Record<string, string>,
): Promise<OwnPolicy> {
    const { experiment, namespace } = plan;
    const own = { [labels.experiment]: experiment, ...more };
    const noted = { ...annotations, ...noteOf(restsOn) };
    const metadata = { name, namespace, labels: own, annotations: noted, ownerReferences: [owner] };
    return ownPolicy(await create(cluster, { metadata, spec }))!;
}

/**
 * @returns the policy as it is, if this step has been killed once, and is done again
 * @throws ReasonError if a quota or somebody else rejects it
 */
async function create(
    cluster: Cluster,
    { metadata, spec }: { metadata: V1ObjectMeta & { name: string; namespace: string }; spec: PolicySpec },
): Promise<V1NetworkPolicy> {
    const { name, namespace } = metadata;
    try {
        return await cluster.create({ resource: resources.networkPolicy, namespace }, { metadata, spec });
    } catch (error) {
        if (statusOf(error) === 409) return cluster.read({ resource: resources.networkPolicy, name, namespace });
        const seen = `namespace ${namespace} admits no NetworkPolicy ${name}`;
        return abortIfRejected("no-room", seen, "Make room or allow it")(error);
    }
}
