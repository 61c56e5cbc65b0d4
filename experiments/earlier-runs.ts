import { type Cluster, mergePatch } from "../chaos/cluster/client";
import { without } from "../chaos/cluster/labels";
import { type LeaseOwner, leasesOf } from "../chaos/lifecycle/lease";

/** Versions up to 0.2 gave the objects of experiments the shop's names. */
const leaseName = "chaos-shop-experiment";
const labels = { target: "chaos-shop/target", experiment: "chaos-shop/experiment" };
/** On the request to kill pods. The other ConfigMap of a run is its deadline Job's program. */
const targetsAnnotation = "chaos-shop/targets";

/**
 * Ends the attacks of a stack that a version up to 0.2 has begun: today's steps do not know them. The engine deletes
 * the rest, and a deadline Job of version 0.2 restores what was scaled when the lease is gone.
 *
 * @returns the experiments that were ended
 */
export async function endEarlierRuns(cluster: Cluster, owner: LeaseOwner): Promise<string[]> {
    const leases = await leasesOf(cluster, owner, leaseName);
    for (const { metadata } of leases) {
        const { namespace, annotations = {} } = metadata as { namespace: string; annotations?: Record<string, string> };
        const labelSelector = `${labels.experiment}=${annotations[labels.experiment]}`;
        await cluster.networking.deleteCollectionNamespacedNetworkPolicy({ namespace, labelSelector });
        await deleteKillRequests(cluster, namespace, labelSelector);
        const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: labels.target });
        for (const pod of items)
            await cluster.core.patchNamespacedPod(
                { name: pod.metadata!.name!, namespace, body: without([labels.target]) },
                mergePatch(),
            );
        await cluster.coordination.deleteNamespacedLease({ name: leaseName, namespace });
    }
    return leases.map(({ metadata }) => metadata!.annotations?.[labels.experiment] ?? leaseName);
}

async function deleteKillRequests({ core }: Cluster, namespace: string, labelSelector: string): Promise<void> {
    const { items } = await core.listNamespacedConfigMap({ namespace, labelSelector });
    for (const { metadata } of items) {
        if (metadata?.annotations?.[targetsAnnotation] === undefined) continue;
        await core.deleteNamespacedConfigMap({ name: metadata.name!, namespace });
    }
}
