import { type Cluster, ignoreNotFound, mergePatch } from "../cluster/client";
import { labels } from "../cluster/labels";
import type { Target } from "./containers";

/**
 * Labels a pod as a target: attacks select the label. The patch carries the uid, so the API server rejects it (409) if
 * another pod has taken the name.
 */
export async function labelPod(
    cluster: Cluster,
    { namespace, pod, uid }: Pick<Target, "namespace" | "pod" | "uid">,
    value: string,
): Promise<void> {
    const body = { metadata: { uid, labels: { [labels.target]: value } } };
    await cluster.core.patchNamespacedPod({ name: pod, namespace, body }, mergePatch());
}

/**
 * Removes the label from every pod of a namespace, whichever experiment added it: the caller holds the lease on the
 * namespace.
 *
 * @param label @default that of this version
 * @returns the number of labeled pods
 */
export async function unlabelAll(cluster: Cluster, namespace: string, label: string = labels.target): Promise<number> {
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: label });
    const body = { metadata: { labels: { [label]: null } } };
    await Promise.all(
        items.map(({ metadata }) =>
            ignoreNotFound(cluster.core.patchNamespacedPod({ name: metadata!.name!, namespace, body }, mergePatch())),
        ),
    );
    return items.length;
}
