import type { V1ManagedFieldsEntry, V1NetworkPolicy, V1NetworkPolicySpec, V1Pod } from "@kubernetes/client-node";
import { kubectlFor } from "../kubectl";
import { pause } from "../async";
import type { Cluster } from "../cluster/client";
import { hasEnded } from "../cluster/kubernetes-rules";
import { fieldManager, isExperimentPolicy, targetLabelOf } from "../cluster/labels";
import { timeOf } from "../lifecycle/holder";
import { jobPolicyName } from "../ending/scope";
import { isolates, rulesOf, type Way, ways } from "../policies/rules";
import { selects } from "../policies/selector";
import { reason, type Reason } from "../reasons";
import { maxSilenceMs } from "./outcome";

/** Time between two looks, in milliseconds: a policy that is there for longer is seen. */
const pauseMs = 4_000;

/**
 * Looks again and again for a NetworkPolicy that somebody has created or changed since the run began, and that denies
 * traffic: what fails then may fail for that, and not for the attack. Failing connections show it much later, since a
 * pod that does not answer once is not cut off.
 *
 * @param run the namespace, and the run's name
 * @param endsAt when it looks for the last time, in milliseconds since the epoch
 * @param signal set if the run is aborted earlier: that is the last time, then
 * @throws Error if the cluster could not be asked for a long time at the end
 */
export async function whyDeniedByOthers(
    cluster: Cluster,
    run: { namespace: string; runName: string },
    endsAt: number,
    signal?: AbortSignal,
): Promise<Reason | undefined> {
    let lookedAt = performance.now();
    for (;;) {
        const isLast = signal?.aborted === true || Date.now() >= endsAt;
        try {
            const seen = await denied(cluster, run);
            if (seen !== undefined || isLast) return seen;
            lookedAt = performance.now();
        } catch (error) {
            if (isLast && performance.now() - lookedAt > maxSilenceMs) throw error;
            if (isLast) return undefined;
        }
        await pause(Math.min(pauseMs, endsAt - Date.now()), signal);
    }
}

/** The API server's clock says what came first, to the second: the run's own first policy tells when it began. */
async function denied(
    cluster: Cluster,
    { namespace, runName }: { namespace: string; runName: string },
): Promise<Reason | undefined> {
    const { core, networking } = cluster;
    const { items: policies } = await networking.listNamespacedNetworkPolicy({ namespace });
    const own = policies.find(({ metadata }) => metadata!.name === jobPolicyName(runName));
    const since = timeOf(own?.metadata?.creationTimestamp);
    if (since === 0) return undefined;
    const others = policies.filter((one) => !isExperimentPolicy(one));
    const isNew = ({ metadata }: V1NetworkPolicy) => timeOf(metadata!.creationTimestamp) > since;
    const isLate = (one: V1NetworkPolicy) => isNew(one) || isChangedSince(one, since);
    const late = others.filter((one) => isLate(one) && ways.some((way) => deniesSome(one.spec!, way)));
    if (late.length === 0) return undefined;
    const { items: pods } = await core.listNamespacedPod({ namespace });
    const living = pods.filter((pod) => !hasEnded(pod));
    const earlier = others.filter((one) => !isLate(one));
    const found = late.find((one) =>
        living.some((pod) => isSelected(pod, one) && !(isNew(one) && onlyAllows(one, pod, earlier))),
    );
    if (found === undefined) return undefined;
    return reason(
        "policy-denies",
        `the NetworkPolicy ${found.metadata!.name} was created or changed during the run, and denies traffic besides ` +
            `the attack; see it: ${kubectlFor(cluster, namespace)} describe networkpolicy ${found.metadata!.name}`,
    );
}

const isSelected = ({ metadata }: V1Pod, { spec }: V1NetworkPolicy) =>
    selects(spec!.podSelector, metadata!.labels ?? {});

/**
 * Whether a policy can only allow a pod more: policies add up, and earlier ones deny it all that none of them allows.
 * Not a target, which they may have stopped selecting: what is allowed to that may spoil the attack.
 */
const onlyAllows = ({ spec }: V1NetworkPolicy, pod: V1Pod, earlier: readonly V1NetworkPolicy[]) =>
    targetLabelOf(pod) === undefined &&
    ways.every(
        (way) => !deniesSome(spec!, way) || earlier.some((one) => isolates(one.spec!, way) && isSelected(pod, one)),
    );

/** Whether a policy denies its pods traffic, unless others allow it. */
const deniesSome = (spec: V1NetworkPolicySpec, way: Way) =>
    isolates(spec, way) && !rulesOf(spec, way).some(({ peers, ports }) => !peers?.length && !ports?.length);

/**
 * Whether somebody has changed what a policy says: by the time that the API server notes for each who sets fields. Runs
 * change policies, too.
 */
const isChangedSince = ({ metadata }: V1NetworkPolicy, since: number): boolean =>
    (metadata!.managedFields ?? []).some(
        (entry) => entry.manager !== fieldManager && setsSpec(entry) && timeOf(entry.time) > since,
    );

const setsSpec = ({ fieldsV1 = {} }: V1ManagedFieldsEntry) => "f:spec" in fieldsV1;
