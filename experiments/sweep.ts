import type { Cluster } from "../shared/kubernetes";
import { labels } from "../shared/labels";
import { unmarkAll } from "./targets/mark";

/**
 * Removes all that an experiment may have left in its namespace: an update that is killed between making an object and
 * writing that down leaves one that the engine knows nothing of. The attack goes first.
 *
 * @returns how many objects and labels there were
 */
export async function sweep(cluster: Cluster, namespace: string, experiment: string): Promise<number> {
    const ofExperiment = { namespace, labelSelector: `${labels.experiment}=${experiment}` };
    const { networking, batch, rbac } = cluster;
    const policies = await networking.listNamespacedNetworkPolicy(ofExperiment);
    if (policies.items.length > 0) await networking.deleteCollectionNamespacedNetworkPolicy(ofExperiment);
    const marks = await unmarkAll(cluster, namespace, experiment);

    // Only what another run would want to make differently; what is always the same is taken over by the next run.
    const [jobs, roles] = await Promise.all([batch.listNamespacedJob(ofExperiment), rbac.listNamespacedRole(ofExperiment)]);
    if (jobs.items.length > 0) await batch.deleteCollectionNamespacedJob({ ...ofExperiment, propagationPolicy: "Background" });
    if (roles.items.length > 0) await rbac.deleteCollectionNamespacedRole(ofExperiment);
    return policies.items.length + marks + jobs.items.length + roles.items.length;
}
