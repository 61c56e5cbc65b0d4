import { attackable, containersOf, type Pod, replicaSetOf, select } from "../../shared/containers";
import { labels } from "../../shared/labels";
import { containersWithin } from "../../shared/radius";
import type { Killing } from "./report";

/** A pod as the API server lists it, with what tells whether it serves. */
export type ListedPod = Pod & { status?: { conditions?: { type: string; status: string }[] } };

export interface ListedReplicaSet {
    metadata: { uid: string; ownerReferences?: { kind: string; name: string }[] };
}

/** The pods that a kill is about: those that match its target, whether they serve yet or not. */
export function matchingPods(pods: readonly ListedPod[], replicaSets: readonly ListedReplicaSet[], { target, clusterName }: Killing): ListedPod[] {
    const deploymentOf = new Map(replicaSets.map(({ metadata }) => [metadata.uid, metadata.ownerReferences?.find(({ kind }) => kind === "Deployment")?.name]));
    return pods.filter((pod) => {
        if (pod.status?.phase !== "Running" && pod.status?.phase !== "Pending") return false;
        // One that starts cannot be attacked yet, and counts as affected all the same.
        const started = { ...pod, status: { ...pod.status, podIP: pod.status.podIP ?? "", phase: "Running" } };
        return attackable(started) && select(containersOf(started, deploymentOf.get(replicaSetOf(pod)?.uid ?? ""), clusterName), target).length > 0;
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
export function chooseVictims(matching: readonly ListedPod[], atFirst: number, { radius }: Killing, shuffle: <T>(items: readonly T[]) => T[]): ListedPod[] {
    const serving = matching.filter(({ status }) => status?.conditions?.some(({ type, status }) => type === "Ready" && status === "True"));
    const affected = Math.max(atFirst, matching.length) - serving.length;
    const allowed = Math.max(0, containersWithin(radius, atFirst) - affected);
    const marked = ({ metadata }: ListedPod) => metadata?.labels?.[labels.target] !== undefined;
    return [...serving.filter(marked), ...shuffle(serving.filter((pod) => !marked(pod)))].slice(0, allowed);
}
