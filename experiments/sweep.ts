import type { KubernetesObject } from "@kubernetes/client-node";
import type { Cluster } from "../shared/kubernetes";
import { labels } from "../shared/labels";
import { restoreAll } from "./actions/scale";
import { unmarkAll } from "./targets/mark";

/**
 * Removes all that an experiment has or may have left in its namespace: an update that is killed between making an
 * object and writing that down leaves one that the engine knows nothing of. The attacks go first. What the engine does
 * know of, it later finds gone, and is content. What was scaled gets its number of pods back.
 *
 * @returns how many objects, labels and scaled Deployments there were
 */
export async function sweep(cluster: Cluster, namespace: string, experiment: string): Promise<number> {
    const ofExperiment = { namespace, labelSelector: `${labels.experiment}=${experiment}` };
    const { core, networking, batch, rbac } = cluster;

    const [policies, configMaps, ...rest] = await Promise.all([
        networking.listNamespacedNetworkPolicy(ofExperiment),
        core.listNamespacedConfigMap(ofExperiment),
        batch.listNamespacedJob(ofExperiment),
        rbac.listNamespacedRoleBinding(ofExperiment),
        rbac.listNamespacedRole(ofExperiment),
        core.listNamespacedServiceAccount(ofExperiment),
    ]);
    if (policies.items.length > 0) await networking.deleteCollectionNamespacedNetworkPolicy(ofExperiment);
    // The orders to kill.
    if (configMaps.items.length > 0) await core.deleteCollectionNamespacedConfigMap(ofExperiment);
    const [marks, restored] = await Promise.all([unmarkAll(cluster, namespace), restoreAll(cluster, namespace)]);
    // A Job that the engine has just deleted is there until its pod has ended.
    const objects = rest
        .flatMap(({ items }) => items as KubernetesObject[])
        .filter(({ metadata }) => metadata?.deletionTimestamp === undefined).length;
    if (objects > 0) {
        await batch.deleteCollectionNamespacedJob({ ...ofExperiment, propagationPolicy: "Background" });
        await rbac.deleteCollectionNamespacedRoleBinding(ofExperiment);
        await rbac.deleteCollectionNamespacedRole(ofExperiment);
        await core.deleteCollectionNamespacedServiceAccount(ofExperiment);
    }
    return policies.items.length + configMaps.items.length + marks + restored + objects;
}
