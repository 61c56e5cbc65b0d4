import type { V1LabelSelector, V1NetworkPolicy, V1NetworkPolicySpec, V1Pod } from "@kubernetes/client-node";
import { kubectlFor } from "../kubectl";
import { pause } from "../async";
import type { Cluster } from "../cluster/client";
import { hasEnded } from "../cluster/kubernetes-rules";
import { isExperimentPolicy, targetLabelOf } from "../cluster/labels";
import { tokenOf } from "../definition/plan";
import { withoutLine } from "../policies/exemption";
import { isolates, rulesOf, type Way, ways } from "../policies/rules";
import { selects } from "../policies/selector";
import { reason, type Reason } from "../reasons";
import { maxSilenceMs } from "./outcome";

/** Time between two looks, in milliseconds: a policy that is there for longer is seen. */
const pauseMs = 4_000;

/** What a NetworkPolicy says, in short, and without what runs change in it. */
export interface KnownPolicy {
    name: string;
    uid: string;
    podSelector: V1LabelSelector;
    /** For each direction in which it isolates pods, a hash of what it allows: empty if that is nothing. */
    allows: Partial<Record<Way, string>>;
}

/** What the NetworkPolicies of a namespace say, without those of experiments. */
export const knownPolicies = (policies: readonly V1NetworkPolicy[]): KnownPolicy[] =>
    policies.filter((one) => !isExperimentPolicy(one)).map(knownPolicy);

const knownPolicy = ({ metadata, spec }: V1NetworkPolicy): KnownPolicy => ({
    name: metadata!.name!,
    uid: metadata!.uid!,
    podSelector: withoutLine(spec!.podSelector),
    allows: Object.fromEntries(ways.filter((way) => isolates(spec!, way)).map((way) => [way, hashOf(spec!, way)])),
});

/** The API server gives fields in the same order each time. */
function hashOf(spec: V1NetworkPolicySpec, way: Way): string {
    const rules = rulesOf(spec, way);
    return rules.length === 0 ? "" : tokenOf(JSON.stringify(rules));
}

/**
 * Looks again and again for a NetworkPolicy that somebody has created, changed or deleted since the run began, by which
 * traffic is denied: what fails then may fail for that, and not for the attack. Failing connections show it much later,
 * since a pod that does not answer once is not cut off.
 *
 * @param run the namespace, and the policies that were there when the run began. @default those of the first look
 * @param endsAt when it looks for the last time, in milliseconds since the epoch
 * @param signal set if the run is aborted earlier: that is the last time, then
 * @throws Error if the cluster could not be asked for a long time at the end
 */
export async function whyDeniedByOthers(
    cluster: Cluster,
    { namespace, policies: known }: { namespace: string; policies?: readonly KnownPolicy[] },
    endsAt: number,
    signal?: AbortSignal,
): Promise<Reason | undefined> {
    let lookedAt = performance.now();
    for (;;) {
        const isLast = signal?.aborted === true || Date.now() >= endsAt;
        try {
            const { items } = await cluster.networking.listNamespacedNetworkPolicy({ namespace });
            known ??= knownPolicies(items);
            const seen = await denied(cluster, namespace, known, items);
            if (seen !== undefined || isLast) return seen;
            lookedAt = performance.now();
        } catch (error) {
            if (isLast && performance.now() - lookedAt > maxSilenceMs) throw error;
            if (isLast) return undefined;
        }
        await pause(Math.min(pauseMs, endsAt - Date.now()), signal);
    }
}

/** @param known the policies when the run began @param policies those of now */
async function denied(
    cluster: Cluster,
    namespace: string,
    known: readonly KnownPolicy[],
    policies: readonly V1NetworkPolicy[],
): Promise<Reason | undefined> {
    const others = policies
        .filter((one) => !isExperimentPolicy(one))
        .map((policy) => ({ policy, uid: policy.metadata!.uid, said: saidBy(knownPolicy(policy)) }));
    const earlier = known.map((was) => ({ was, said: saidBy(was) }));
    const came = others.filter(({ said }) => !earlier.some((one) => one.said === said)).map(({ policy }) => policy);
    // One that was deleted and created again, as it was, did not allow anything for a moment.
    const gone = earlier.filter(({ was, said }) => !others.some((one) => one.uid === was.uid && one.said === said));
    if (came.length + gone.length === 0) return undefined;
    const { items } = await cluster.core.listNamespacedPod({ namespace });
    const pods = items.filter((pod) => !hasEnded(pod));
    const lost = gone.find(({ was, said }) => {
        const rest = others.filter((one) => one.said !== said).map(({ policy }) => policy);
        return ways.some((way) => pods.some((pod) => allowed(was, pod, way, rest)));
    })?.was;
    const added = came.find(
        (one) => deniesSome(one) && pods.some((pod) => isSelected(pod, one.spec!) && !onlyAllows(one, pod, known)),
    );
    const name = lost?.name ?? added?.metadata!.name;
    if (name === undefined) return undefined;
    const kubectl = kubectlFor(cluster, namespace);
    const isDeleted = lost !== undefined && !others.some(({ uid }) => uid === lost.uid);
    const done = known.some((one) => one.name === name) ? "changed" : "created";
    return reason(
        "policy-denies",
        isDeleted
            ? `the NetworkPolicy ${name} was deleted during the run, and others deny what it allowed; see them: ` +
                  `${kubectl} get networkpolicies`
            : `the NetworkPolicy ${name} was ${done} during the run, and denies traffic besides the attack; ` +
                  `see it: ${kubectl} describe networkpolicy ${name}`,
    );
}

/** Compared as JSON: one has been in the state, and the other has the client's classes. */
const saidBy = ({ name, podSelector, allows }: KnownPolicy) => JSON.stringify([name, podSelector, allows]);

const isSelected = ({ metadata }: V1Pod, { podSelector }: Pick<V1NetworkPolicySpec, "podSelector">) =>
    selects(podSelector, metadata!.labels ?? {});

/** Whether an earlier policy allowed a pod what others deny it. */
function allowed(was: KnownPolicy, pod: V1Pod, way: Way, others: readonly V1NetworkPolicy[]): boolean {
    if (!was.allows[way] || !isSelected(pod, was)) return false;
    const isolating = others.filter(({ spec }) => isolates(spec!, way) && isSelected(pod, spec!));
    return isolating.length > 0 && isolating.every((one) => deniesSomeOf(one, way));
}

/**
 * Whether a policy can only allow a pod more: policies add up, and earlier ones denied it all that none of them
 * allowed. Not a target, which they may have stopped selecting: what is allowed to that may spoil the attack.
 */
const onlyAllows = (one: V1NetworkPolicy, pod: V1Pod, known: readonly KnownPolicy[]) =>
    targetLabelOf(pod) === undefined &&
    ways.every(
        (way) => !deniesSomeOf(one, way) || known.some((was) => was.allows[way] !== undefined && isSelected(pod, was)),
    );

/** Whether a policy denies its pods traffic, unless others allow it. */
const deniesSome = (one: V1NetworkPolicy) => ways.some((way) => deniesSomeOf(one, way));

const deniesSomeOf = ({ spec }: V1NetworkPolicy, way: Way) =>
    isolates(spec!, way) && !rulesOf(spec!, way).some(({ peers, ports }) => !peers?.length && !ports?.length);
