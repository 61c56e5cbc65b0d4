import type { Cluster } from "../cluster/client";
import type { KillReport } from "../witness/protocol";
import { inTurns } from "../values/async";
import type { Target } from "../targets/containers";
import { reason, type Reason } from "../values/reasons";
import { resources } from "../cluster/resources";

/** Calls to the API server at a time: the check has ended, and only its end waits for them. */
const maxCalls = 10;

/** Why attacked containers are not the running ones any more. Undefined if they still are. */
export async function whyChanged(cluster: Cluster, targets: readonly Target[]): Promise<Reason | undefined> {
    const reasons = await inTurns(targets, maxCalls, (target) => whyOneChanged(cluster, target));
    return reasons.find((one) => one !== undefined);
}

async function whyOneChanged(cluster: Cluster, target: Target): Promise<Reason | undefined> {
    const { pod: name, namespace, uid, container, containerId } = target;
    const pod = await cluster.get({ resource: resources.pod, name, namespace });
    if (!pod || pod.metadata!.uid !== uid || pod.metadata!.deletionTimestamp)
        return reason("target-changed", `the target ${name} was gone before the run had ended`);
    const status = pod.status?.containerStatuses?.find((candidate) => candidate.name === container);
    // A Job's container keeps its id when it has ended.
    if (status?.state?.terminated)
        return reason("target-changed", `the target ${name}/${container} ended during the run`);
    return status?.containerID === containerId
        ? undefined
        : reason("target-changed", `the target ${name}/${container} was restarted during the run`);
}

/** Which of some pods, identified by uid, exist and are not being deleted. Undefined if none does. */
export async function whyAlive(
    cluster: Cluster,
    namespace: string,
    pods: readonly { pod: string; uid: string }[],
): Promise<Reason | undefined> {
    const items = await cluster.all(resources.pod, { namespace });
    const staying = items.filter(({ metadata }) => !metadata!.deletionTimestamp);
    const living = new Set(staying.map(({ metadata }) => metadata!.uid));
    const alive = pods.filter(({ uid }) => living.has(uid)).map(({ pod }) => pod);
    if (alive.length === 0) return undefined;
    return reason("attack-not-proven", `${alive.join(", ")} should have been deleted, but still runs`);
}

/** Why it is not shown that the deadline Job has killed pods. Undefined if it is. */
export async function whyNotKilled(
    cluster: Cluster,
    namespace: string,
    kills: readonly KillReport[],
): Promise<Reason | undefined> {
    if (kills.length === 0)
        return reason("attack-not-proven", "the targets are gone, but the deadline Job did not delete them");
    const killed = kills.map((kill) => kill.killed);
    return whyAlive(cluster, namespace, killed);
}
