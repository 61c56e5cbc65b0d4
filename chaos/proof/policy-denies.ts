import type { V1NetworkPolicy, V1NetworkPolicySpec, V1Pod } from "../values/kubernetes-types";
import { kubectlFor } from "../values/kubectl";
import type { Cluster } from "../cluster/client";
import { hasEnded } from "../values/kubernetes-rules";
import { isOthersPolicy } from "../cluster/labels";
import { isolatesPod } from "../policies/allows";
import { type OwnPolicy, whyUnfit } from "../policies/own-policies";
import { type KnownPolicy, knownPolicies, knownPolicy, saidBy } from "../policies/known";
import { isolates, rulesOf, type Way, ways } from "../policies/rules";
import { selects } from "../policies/selector";
import { reason, type Reason } from "../values/reasons";
import { lookAgain } from "./look-again";
import { resources } from "../cluster/resources";

/**
 * Looks again and again for a NetworkPolicy that somebody has created, changed or deleted since the run began, by which
 * traffic is denied: what fails then may fail for that, and not for the attack. Failing connections show it much later,
 * since a pod that does not answer once is not cut off.
 *
 * @param run the namespace, the policies that were there when the run began (@default those of the first look), and
 *   what the run has made beside them
 * @param endsAt when it looks for the last time, in milliseconds since the epoch
 * @param signal set if the run is aborted earlier: that is the last time, then
 * @throws Error if the cluster could not be asked for a long time at the end
 */
export function whyDeniedByOthers(
    cluster: Cluster,
    { namespace, run, policies: known, ownPolicies = [] }: PoliciesOfRun,
    endsAt: number,
    signal?: AbortSignal,
): Promise<Reason | undefined> {
    // The run makes none while the window lasts, and anybody can copy their names.
    let own: Set<string> | undefined;
    return lookAgain(
        async () => {
            const items = await cluster.all(resources.networkPolicy, { namespace });
            own ??= new Set(items.filter((one) => !isOthersPolicy(one, run)).map(({ metadata }) => metadata!.uid!));
            const isOwn = ({ metadata }: V1NetworkPolicy) => own!.has(metadata!.uid!);
            const others = items.filter((one) => !isOwn(one));
            known ??= knownPolicies(others);
            return (
                deniedByOwn(ownPolicies, known, others) ??
                (await denied(cluster, namespace, known, others, knownPolicies(items.filter(isOwn))))
            );
        },
        endsAt,
        signal,
    );
}

export interface PoliciesOfRun {
    namespace: string;
    /** Name of the run. */
    run: string;
    policies?: readonly KnownPolicy[];
    ownPolicies?: readonly OwnPolicy[];
}

/**
 * Whether the run's own policies deny traffic by now, since policies that they add to are gone. The Job ends the attack
 * then, within seconds; but one that was created again at once was missing for a moment, too.
 */
function deniedByOwn(
    own: readonly OwnPolicy[],
    known: readonly KnownPolicy[],
    policies: readonly V1NetworkPolicy[],
): Reason | undefined {
    const still = knownPolicies(policies).filter(({ uid }) => known.some((was) => was.uid === uid));
    const unfit = whyUnfit(own, still);
    return unfit === undefined ? undefined : reason("policy-denies", `${unfit} during the run`);
}

/** @param known the policies when the run began @param policies those of others now @param own those of the run now */
async function denied(
    cluster: Cluster,
    namespace: string,
    known: readonly KnownPolicy[],
    policies: readonly V1NetworkPolicy[],
    own: readonly KnownPolicy[],
): Promise<Reason | undefined> {
    const others = policies.map((policy) => ({ policy, uid: policy.metadata!.uid, said: saidBy(knownPolicy(policy)) }));
    const earlier = known.map((was) => ({ was, said: saidBy(was) }));
    const came = others.filter(({ said }) => !earlier.some((one) => one.said === said)).map(({ policy }) => policy);
    // A policy that was deleted and created again, as it was, allowed nothing for a moment.
    const gone = earlier.filter(({ was, said }) => !others.some((one) => one.uid === was.uid && one.said === said));
    if (came.length + gone.length === 0) return undefined;
    const items = await cluster.all(resources.pod, { namespace });
    // Policies do not apply to pods on the host's network.
    const pods = items.filter((pod) => !hasEnded(pod) && !pod.spec?.hostNetwork);
    const lost = gone.find(({ was, said }) => {
        const rest = others.filter((one) => one.said !== said).map(({ policy }) => policy);
        return ways.some((way) => pods.some((pod) => allowed(was, pod, way, rest)));
    })?.was;
    const isolating = [...known, ...own];
    const added = came.find((one) => pods.some((pod) => ways.some((way) => deniesMore(one, pod, way, isolating))));
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

const isSelected = ({ metadata }: V1Pod, { podSelector }: Pick<V1NetworkPolicySpec, "podSelector">) =>
    selects(podSelector, metadata!.labels ?? {});

/** Whether an earlier policy allowed a pod what others deny it. */
function allowed(was: KnownPolicy, pod: V1Pod, way: Way, others: readonly V1NetworkPolicy[]): boolean {
    if (!was.allows[way] || !isSelected(pod, was)) return false;
    const isolating = others.filter((one) => isolatesPod(one, pod, way));
    return isolating.length > 0 && isolating.every((one) => deniesSomeOf(one, way));
}

/**
 * Whether a policy denies a pod traffic that it could have before. Policies add up: where an earlier one, or the run's,
 * isolates the pod already, another can only allow more. Those that have stopped selecting a target have left the
 * run's own in their place.
 */
const deniesMore = (one: V1NetworkPolicy, pod: V1Pod, way: Way, known: readonly KnownPolicy[]) =>
    isolatesPod(one, pod, way) &&
    deniesSomeOf(one, way) &&
    !known.some((was) => was.allows[way] !== undefined && isSelected(pod, was));

/** Whether a policy denies its pods traffic, unless others allow it. */
const deniesSomeOf = ({ spec }: V1NetworkPolicy, way: Way) =>
    isolates(spec!, way) && !rulesOf(spec!, way).some(({ peers, ports }) => !peers?.length && !ports?.length);
