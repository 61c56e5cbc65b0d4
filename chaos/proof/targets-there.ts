import { type Cluster, ignoreNotFound } from "../cluster/client";
import type { KillReport } from "../deadline/protocol";
import type { Target } from "../targets/containers";
import type { InconclusiveReason } from "./outcome";

/** Why attacked containers are not the running ones any more. Undefined if they still are. */
export async function whyChanged(
    cluster: Cluster,
    targets: readonly Target[],
): Promise<InconclusiveReason | undefined> {
    for (const { pod: name, namespace, uid, container, containerId } of targets) {
        const pod = await ignoreNotFound(cluster.core.readNamespacedPod({ name, namespace }));
        if (!pod || pod.metadata!.uid !== uid || pod.metadata!.deletionTimestamp) {
            return `the target ${name} was gone before the run had ended`;
        }
        const status = pod.status?.containerStatuses?.find((candidate) => candidate.name === container);
        // A Job's container keeps its id when it has ended.
        if (status?.state?.terminated) return `the target ${name}/${container} ended during the run`;
        if (status?.containerID !== containerId) return `the target ${name}/${container} was restarted during the run`;
    }
    return undefined;
}

/** Which of some pods, identified by uid, exist and are not being deleted. Undefined if none does. */
export async function whyAlive(
    cluster: Cluster,
    namespace: string,
    pods: readonly { pod: string; uid: string }[],
): Promise<InconclusiveReason | undefined> {
    const { items } = await cluster.core.listNamespacedPod({ namespace });
    const staying = items.filter(({ metadata }) => !metadata!.deletionTimestamp);
    const living = new Set(staying.map(({ metadata }) => metadata!.uid));
    const alive = pods.filter(({ uid }) => living.has(uid)).map(({ pod }) => pod);
    return alive.length === 0 ? undefined : `${alive.join(", ")} should have been deleted, but still runs`;
}

/** Why it is not shown that the deadline Job has killed pods. Undefined if it is. */
export async function whyNotKilled(
    cluster: Cluster,
    namespace: string,
    kills: readonly KillReport[],
): Promise<InconclusiveReason | undefined> {
    if (kills.length === 0) return "the targets are gone, but the deadline Job did not delete them";
    const killed = kills.map((kill) => kill.killed);
    return whyAlive(cluster, namespace, killed);
}
