import type {
    V1DaemonSetStatus,
    V1DeploymentSpec,
    V1DeploymentStatus,
    V1ObjectMeta,
    V1StatefulSetSpec,
} from "../../values/kubernetes-types";
import type { Cluster } from "../../cluster/client";
import { lend } from "../../cluster/lend";
import { type NamedObject, type ObjectReference, type Resource, resources } from "../../cluster/resources";
import { settable, whyOther } from "./set-field";

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

export const readWorkload = (
    cluster: Cluster,
    workload: Workload,
    namespace: string,
): Promise<FoundWorkload | undefined> => cluster.get(referenceTo(workload, namespace));

interface Where {
    cluster: Cluster;
    namespace: string;
}

/**
 * Sets a field of an object's `spec` until the run is undone: a note on the object says what was there before.
 *
 * @param value one that the API server keeps: not the one that it takes an absent field for
 * @throws Error if the object does not exist
 */
export async function setUntilUndone(
    { cluster, namespace, run }: Where & { run: string },
    named: NamedObject,
    field: string,
    value: number | boolean,
): Promise<void> {
    const object = { ...named, namespace };
    const isThere = await lend(cluster, object, settable(field), { run, value: () => value });
    if (!isThere) throw new Error(notFound(object));
}

/** Why a field does not have what an action has set, or a later one of the run. Undefined if it has. */
export async function whyNotSet(
    { cluster, namespace }: Where,
    named: NamedObject,
    field: string,
    value: number | boolean,
) {
    const object = { ...named, namespace };
    const found = await cluster.get(object);
    return found ? whyOther(object.resource.kind, found, field, value) : notFound(object);
}

/** @throws Error that an object does not exist, if nothing was found */
export function requireFound<T>(found: T | undefined, object: ObjectReference): T {
    if (found !== undefined) return found;
    throw new Error(notFound(object));
}

const notFound = ({ resource, name, namespace }: ObjectReference): string =>
    `there is no ${resource.kind} ${name} in namespace ${namespace}`;
