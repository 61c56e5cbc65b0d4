import { type Cluster, ignoreNotFound, mergePatch } from "../cluster/client";
import { runLabels, without } from "../cluster/labels";
import { inTurns } from "../in-turns";
import { onePerPod } from "./besides";
import type { Target } from "./containers";

/** Calls to the API server at a time. */
const maxCalls = 16;

/**
 * Labels pods as targets: attacks select the labels. Each patch carries the pod's uid, so the API server rejects it
 * (409) if another pod has taken the name.
 *
 * @param targets containers; two may be in one pod
 */
export async function labelPods(
    cluster: Cluster,
    targets: readonly Pick<Target, "namespace" | "pod" | "uid">[],
    labelsOf: (uid: string) => Record<string, string>,
): Promise<void> {
    await inTurns(onePerPod(targets), maxCalls, ({ namespace, pod: name, uid }) => {
        const body = { metadata: { uid, labels: labelsOf(uid) } };
        return cluster.core.patchNamespacedPod({ name, namespace, body }, mergePatch());
    });
}

/**
 * Removes the labels of runs from every pod of a namespace, whichever experiment added them: the caller holds the lease
 * on the namespace.
 * A pod may have lost one of them.
 *
 * @returns the number of labeled pods
 */
export async function unlabelAll(cluster: Cluster, namespace: string): Promise<number> {
    const lists = await Promise.all(
        runLabels.map((labelSelector) => cluster.core.listNamespacedPod({ namespace, labelSelector })),
    );
    const names = [...new Set(lists.flatMap(({ items }) => items.map(({ metadata }) => metadata!.name!)))];
    const body = without(runLabels);
    await inTurns(names, maxCalls, (name) =>
        ignoreNotFound(cluster.core.patchNamespacedPod({ name, namespace, body }, mergePatch())),
    );
    return names.length;
}
