import type {
    V1DaemonSetStatus,
    V1DeploymentSpec,
    V1DeploymentStatus,
    V1ObjectMeta,
    V1StatefulSetSpec,
} from "@kubernetes/client-node";
import { change } from "../cluster/change";
import type { Cluster } from "../cluster/client";
import { objectApi } from "../cluster/objects";
import { type ObjectReference, type Resource, resources } from "../cluster/resources";
import { describeField, isKept, settingTo } from "./set-field";

export interface Workload {
    kind: WorkloadKind;
    name: string;
}

export const workloadTypes = {
    Deployment: resources.deployment,
    StatefulSet: { apiGroup: "apps", resource: "statefulsets", kind: "StatefulSet" },
    DaemonSet: { apiGroup: "apps", resource: "daemonsets", kind: "DaemonSet" },
} as const satisfies Record<string, Resource>;

export type WorkloadKind = keyof typeof workloadTypes;

export const workloadKinds = Object.keys(workloadTypes) as WorkloadKind[];

/** What actions read of a workload. Some fields are those of one kind. */
export interface FoundWorkload {
    metadata?: V1ObjectMeta;
    spec?: Partial<V1DeploymentSpec> & Pick<V1StatefulSetSpec, "updateStrategy">;
    status?: Partial<V1DeploymentStatus & V1DaemonSetStatus>;
}

export const referenceTo = ({ kind, name }: Workload, namespace: string) => ({
    resource: workloadTypes[kind],
    namespace,
    name,
});

export async function workloadsOf(cluster: Cluster, kind: WorkloadKind, namespace: string): Promise<FoundWorkload[]> {
    const found: FoundWorkload[] = [];
    for await (const workload of objectApi(cluster).list(workloadTypes[kind], namespace)) found.push(workload);
    return found;
}

export const readWorkload = (
    cluster: Cluster,
    workload: Workload,
    namespace: string,
): Promise<FoundWorkload | undefined> => objectApi(cluster).get(referenceTo(workload, namespace));

/**
 * Sets a field of an object's `spec` until the run is undone: a note on the object says what was there before.
 *
 * @param value one that the API server keeps: not the one that it takes an absent field for
 * @throws Error if the object does not exist
 */
export async function setUntilUndone(
    { cluster, run }: { cluster: Cluster; run: string },
    object: ObjectReference,
    field: string,
    value: number | boolean,
): Promise<void> {
    if (!(await change(objectApi(cluster), object, settingTo(field, value, run)))) throw new Error(notFound(object));
}

/** Why a field does not have what an action has set, or a later one of the run. Undefined if it has. */
export async function whyNotSet(
    { cluster }: { cluster: Cluster },
    object: ObjectReference,
    field: string,
    value: number | boolean,
): Promise<string | undefined> {
    const found = await objectApi(cluster).get(object);
    if (found === undefined) return notFound(object);
    return isKept(found, field, value) ? undefined : describeField(object.resource.kind, found, field);
}

/** @throws Error that an object does not exist, if nothing was found */
export function requireFound<T>(found: T | undefined, object: ObjectReference): T {
    if (found !== undefined) return found;
    throw new Error(notFound(object));
}

export const notFound = ({ resource, name, namespace }: ObjectReference): string =>
    `there is no ${resource.kind} ${name} in namespace ${namespace}`;
