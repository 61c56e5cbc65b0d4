import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { type Cluster, orMissing } from "../../shared/kubernetes";
import { labels } from "../../shared/labels";

/**
 * Labels a pod as a target of an attack: what the attack's policy selects. Only the very pod that was chosen: the
 * API server refuses (409) where another pod has taken its name.
 */
export async function mark(
    cluster: Cluster,
    { namespace, pod, uid }: { namespace: string; pod: string; uid: string },
    value: string,
): Promise<void> {
    const body = { metadata: { uid, labels: { [labels.target]: value } } };
    await cluster.core.patchNamespacedPod(
        { name: pod, namespace, body },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
}

/**
 * Takes the label off every pod of a namespace that bears it, whichever experiment put it there: who asks for it has
 * the namespace to himself.
 *
 * @returns how many there were
 */
export async function unmarkAll(cluster: Cluster, namespace: string): Promise<number> {
    const marked = await cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target });
    const body = { metadata: { labels: { [labels.target]: null } } };
    await Promise.all(
        marked.items.map(({ metadata }) =>
            orMissing(
                cluster.core.patchNamespacedPod(
                    { name: metadata!.name!, namespace, body },
                    setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
                ),
            ),
        ),
    );
    return marked.items.length;
}
