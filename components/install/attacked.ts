import type { Cluster } from "../../shared/kubernetes";
import { labels } from "../../shared/labels";

/** Whether an experiment has marked a pod of the namespace. */
export async function isAttacked({ core }: Cluster, namespace: string): Promise<boolean> {
    return (await core.listNamespacedPod({ namespace, labelSelector: labels.target, limit: 1 })).items.length > 0;
}
