import type { V1NetworkPolicy, V1NetworkPolicySpec, V1ObjectMeta } from "@kubernetes/client-node";
import { pause } from "../async";
import type { Cluster } from "../cluster/client";
import { hasEnded } from "../cluster/kubernetes-rules";
import { fieldManager, labels } from "../cluster/labels";
import { jobPolicyName } from "../ending/scope";
import { isolates, rulesOf, ways } from "../policies/rules";
import { selects } from "../policies/selector";
import { reason, type Reason } from "../reasons";

/** Time between two looks, in milliseconds: a policy that is there for longer is seen. */
const pauseMs = 4_000;

/**
 * Looks again and again for a NetworkPolicy that somebody has created or changed since the run began, and that denies
 * traffic: what fails then may fail for that, whatever the attack does. Failing connections show it much later, since
 * a pod that does not answer once is not cut off.
 *
 * @param run the namespace, and the run's name
 * @param endsAt when it looks for the last time, in milliseconds since the epoch
 * @param signal set if the run is aborted earlier: that is the last time, then
 * @throws Error if the cluster cannot be asked the last time
 */
export async function whyDeniedByOthers(
    cluster: Cluster,
    run: { namespace: string; runName: string },
    endsAt: number,
    signal?: AbortSignal,
): Promise<Reason | undefined> {
    for (;;) {
        const isLast = signal?.aborted === true || Date.now() >= endsAt;
        const seen = await denied(cluster, run).catch((error: unknown) => {
            if (isLast) throw error;
            return undefined;
        });
        if (seen !== undefined || isLast) return seen;
        await pause(Math.min(pauseMs, endsAt - Date.now()), signal);
    }
}

/** The API server's clock says what came first, to the second: the run's own first policy tells when it began. */
async function denied(
    { core, networking }: Cluster,
    { namespace, runName }: { namespace: string; runName: string },
): Promise<Reason | undefined> {
    const { items: policies } = await networking.listNamespacedNetworkPolicy({ namespace });
    const own = policies.find(({ metadata }) => metadata!.name === jobPolicyName(runName));
    const since = timeOf(own?.metadata?.creationTimestamp);
    if (since === undefined) return undefined;
    const late = policies.filter((one) => isOthers(one) && setAt(one.metadata!) > since && denies(one.spec!));
    if (late.length === 0) return undefined;
    const { items: pods } = await core.listNamespacedPod({ namespace });
    const isSelected = ({ spec }: V1NetworkPolicy) =>
        pods.some((pod) => !hasEnded(pod) && selects(spec!.podSelector, pod.metadata!.labels ?? {}));
    const found = late.find(isSelected);
    if (found === undefined) return undefined;
    return reason(
        "policy-denies",
        `the NetworkPolicy ${found.metadata!.name} was created or changed during the run, and denies traffic besides ` +
            `the attack; see it: kubectl --namespace ${namespace} describe networkpolicy ${found.metadata!.name}`,
    );
}

const isOthers = ({ metadata }: V1NetworkPolicy) =>
    [labels.experiment, labels.witness].every((key) => metadata!.labels?.[key] === undefined);

const denies = (spec: V1NetworkPolicySpec) =>
    ways.some(
        (way) =>
            isolates(spec, way) && !rulesOf(spec, way).some(({ peers, ports }) => !peers?.length && !ports?.length),
    );

const timeOf = (time: Date | string | undefined) => (time === undefined ? undefined : new Date(time).getTime());

/** When somebody but a run has last set what a policy says. */
function setAt({ creationTimestamp, managedFields = [] }: V1ObjectMeta): number {
    const times = managedFields
        .filter(({ manager, fieldsV1 = {} }) => manager !== fieldManager && "f:spec" in fieldsV1)
        .map(({ time }) => timeOf(time) ?? 0);
    return Math.max(timeOf(creationTimestamp) ?? 0, ...times);
}
