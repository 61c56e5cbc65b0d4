import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { type Cluster, orMissing } from "../../shared/kubernetes";
import { labels } from "../../shared/labels";

/**
 * Labels a pod as a target of an experiment: what the attack's policy selects. Only the very pod that was chosen: the
 * API server refuses (409) where another pod has taken its name.
 */
export async function mark(cluster: Cluster, { namespace, pod, uid }: { namespace: string; pod: string; uid: string }, experiment: string): Promise<void> {
    const body = { metadata: { uid, labels: { [labels.target]: experiment } } };
    await cluster.core.patchNamespacedPod({ name: pod, namespace, body }, setHeaderOptions("Content-Type", PatchStrategy.MergePatch));
}

/** Takes an experiment's label off every pod of a namespace that bears it; returns how many there were. */
export async function unmarkAll(cluster: Cluster, namespace: string, experiment: string): Promise<number> {
    const marked = await cluster.core.listNamespacedPod({ namespace, labelSelector: `${labels.target}=${experiment}` });
    const body = { metadata: { labels: { [labels.target]: null } } };
    await Promise.all(
        marked.items.map(({ metadata }) =>
            orMissing(
                cluster.core.patchNamespacedPod({ name: metadata!.name!, namespace, body }, setHeaderOptions("Content-Type", PatchStrategy.MergePatch)),
            ),
        ),
    );
    return marked.items.length;
}
