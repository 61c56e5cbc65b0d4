import {
    attackable,
    containersOf,
    deploymentsByReplicaSet,
    isReady,
    type Pod,
    type ReplicaSet,
    replicaSetOf,
    select,
} from "../../shared/containers";
import { targetMarkOf } from "../../shared/labels";
import { containersWithin } from "../../shared/radius";
import type { Killing } from "./report";

/** The pods that a kill is about: those that match its target, whether they serve yet or not, and that no other attack has marked. */
export function matchingPods(
    pods: readonly Pod[],
    replicaSets: readonly ReplicaSet[],
    { target, clusterName, mark }: Killing,
): Pod[] {
    const deploymentOf = deploymentsByReplicaSet(replicaSets);
    return pods.filter((pod) => {
        if (pod.status?.phase !== "Running" && pod.status?.phase !== "Pending") return false;
        if ((targetMarkOf(pod) ?? mark) !== mark) return false;
        // One that starts cannot be attacked yet, and counts as affected all the same.
        const started = { ...pod, status: { ...pod.status, podIP: pod.status.podIP ?? "", phase: "Running" } };
        return (
            attackable(started) &&
            select(containersOf(started, deploymentOf.get(replicaSetOf(pod)?.uid ?? ""), clusterName), target).length >
                0
        );
    });
}

/**
 * Whom the next kill deletes. What was deleted and does not serve again yet is affected still: no more than the radius
 * allows is affected at any moment.
 *
 * @param matching the pods that match now
 * @param atFirst how many matched before the first kill
 * @param shuffle puts pods into the order in which they are taken; marked ones go first whatever it does
 */
export function chooseVictims(
    matching: readonly Pod[],
    atFirst: number,
    { radius }: Killing,
    shuffle: <T>(items: readonly T[]) => T[],
): Pod[] {
    const serving = matching.filter(isReady);
    const affected = Math.max(atFirst, matching.length) - serving.length;
    const allowed = Math.max(0, containersWithin(radius, atFirst) - affected);
    const marked = (pod: Pod) => targetMarkOf(pod) !== undefined;
    return [...serving.filter(marked), ...shuffle(serving.filter((pod) => !marked(pod)))].slice(0, allowed);
}
