import type { KubernetesObject } from "@kubernetes/client-node";
import { restoreAll } from "../actions/scale";
import { type Cluster, ignoreNotFound } from "../cluster/client";
import { annotations, labels } from "../cluster/labels";
import { type Plan, runNameOf } from "../definition/plan";
import { restoreServices } from "../fault/point";
import { restorePolicies } from "../policies/exempt";
import { unlabelAll } from "../targets/label";
import { valuesOf } from "./settled";

const selectionOf = (namespace: string, experiment: string, key: string = labels.experiment): Selection => ({
    namespace,
    labelSelector: `${key}=${experiment}`,
});

/**
 * Removes everything that an experiment may have left in its namespace, attacks first, and restores what it scaled. An
 * update that is killed between creating an object and recording it leaves one that the engine does not know. The
 * engine accepts that objects it does know are gone.
 *
 * @returns the number of objects, labels and scaled Deployments
 * @throws as `undoAttacks` does; the deadline Job stays while there is something that it may have to end
 */
export async function sweep(cluster: Cluster, namespace: string, experiment: string): Promise<number> {
    const removed = await undoAttacks(cluster, namespace, experiment);
    const removedWithJob = await removeDeadline(cluster, selectionOf(namespace, experiment));
    return (
        removed + removedWithJob + (await removePolicies(cluster, selectionOf(namespace, experiment, labels.witness)))
    );
}

/**
 * Removes the labels of all targets in the namespace, and with that an experiment's attacks; then their objects.
 * Restores the Services that point to proxies, the policies that let go of targets, and what was scaled. Labels first:
 * a pod would be open whose policies still let go of it.
 *
 * @returns the number of objects, labels, changed policies and Services, and scaled Deployments
 * @throws Error with all that failed: one step that fails keeps no other attack, label or Deployment from its end
 */
export async function undoAttacks(cluster: Cluster, namespace: string, experiment: string): Promise<number> {
    const ofExperiment = selectionOf(namespace, experiment);
    const attacks = await Promise.allSettled([
        unlabelAll(cluster, namespace),
        endFaults(cluster, ofExperiment),
        removeKillRequests(cluster, ofExperiment),
    ]);
    const traces = await Promise.allSettled([
        removePolicies(cluster, ofExperiment),
        restorePolicies(cluster, namespace),
        restoreAll(cluster, namespace),
    ]);
    return valuesOf([...attacks, ...traces]).reduce((sum, count) => sum + count, 0);
}

/**
 * Removes the policies that a run's steps have made, even if another stack attacks the namespace now: a run's names
 * have its stack, and the engine does not know these.
 *
 * @returns their number
 */
export async function removeOwnPolicies(
    { networking }: Cluster,
    { plan, stack }: { plan: Plan; stack: string },
): Promise<number> {
    const { namespace } = plan;
    const { items } = await networking.listNamespacedNetworkPolicy({ namespace });
    const own = items
        .map(({ metadata }) => metadata!.name!)
        .filter((name) => name.startsWith(`${runNameOf(plan, stack)}-`));
    await Promise.all(own.map((name) => ignoreNotFound(networking.deleteNamespacedNetworkPolicy({ name, namespace }))));
    return own.length;
}

interface Selection {
    namespace: string;
    labelSelector: string;
}

async function removePolicies({ networking }: Cluster, ofExperiment: Selection): Promise<number> {
    const { items } = await networking.listNamespacedNetworkPolicy(ofExperiment);
    if (items.length > 0) await networking.deleteCollectionNamespacedNetworkPolicy(ofExperiment);
    return items.length;
}

/** Restores the Services whose place proxies have taken, then removes these, which still pass on what they have. */
async function endFaults(cluster: Cluster, ofExperiment: Selection): Promise<number> {
    const { core } = cluster;
    const { namespace } = ofExperiment;
    const restored = await restoreServices(cluster, namespace);
    const ofProxies = { namespace, labelSelector: `${ofExperiment.labelSelector},${labels.proxy}` };
    const [pods, services] = await Promise.all([
        core.listNamespacedPod(ofProxies),
        core.listNamespacedService(ofExperiment),
    ]);
    const staying = pods.items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    await Promise.all([
        ...staying.map(({ metadata }) =>
            ignoreNotFound(core.deleteNamespacedPod({ name: metadata!.name!, namespace })),
        ),
        ...services.items.map(({ metadata }) =>
            ignoreNotFound(core.deleteNamespacedService({ name: metadata!.name!, namespace })),
        ),
    ]);
    return restored + staying.length + services.items.length;
}

async function removeKillRequests({ core }: Cluster, ofExperiment: Selection): Promise<number> {
    const { namespace } = ofExperiment;
    const { items } = await core.listNamespacedConfigMap(ofExperiment);
    // The other ConfigMap is the program of the deadline Job, which may have to start again while there is something to
    // end.
    const requests = items.filter(({ metadata }) => metadata?.annotations?.[annotations.targets]);
    await Promise.all(
        requests.map(({ metadata }) =>
            ignoreNotFound(core.deleteNamespacedConfigMap({ name: metadata!.name!, namespace })),
        ),
    );
    return requests.length;
}

/** Removes the deadline Job, and what it and the proxies of faults need: accounts, rights and programs. */
async function removeDeadline({ core, batch, rbac }: Cluster, ofExperiment: Selection): Promise<number> {
    const lists = await Promise.all([
        batch.listNamespacedJob(ofExperiment),
        rbac.listNamespacedRoleBinding(ofExperiment),
        rbac.listNamespacedRole(ofExperiment),
        core.listNamespacedServiceAccount(ofExperiment),
        core.listNamespacedConfigMap(ofExperiment),
    ]);
    // A Job that the engine has just deleted exists until its pod has ended.
    const objects = lists
        .flatMap(({ items }) => items as KubernetesObject[])
        .filter(({ metadata }) => metadata?.deletionTimestamp === undefined).length;
    if (objects === 0) return 0;
    await batch.deleteCollectionNamespacedJob({ ...ofExperiment, propagationPolicy: "Background" });
    await rbac.deleteCollectionNamespacedRoleBinding(ofExperiment);
    await rbac.deleteCollectionNamespacedRole(ofExperiment);
    await core.deleteCollectionNamespacedServiceAccount(ofExperiment);
    await core.deleteCollectionNamespacedConfigMap(ofExperiment);
    return objects;
}
