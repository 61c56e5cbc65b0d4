import type {
    V1DaemonSetStatus,
    V1DeploymentSpec,
    V1DeploymentStatus,
    V1ObjectMeta,
    V1StatefulSetSpec,
} from "@kubernetes/client-node";
import type { Cluster } from "../cluster/client";
import { objectApi } from "../cluster/objects";
import { type ObjectReference, type Resource, resources } from "../cluster/resources";

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

/** @throws Error that an object does not exist, if nothing was found */
export function requireFound<T>(found: T | undefined, object: ObjectReference): T {
    if (found !== undefined) return found;
    throw new Error(notFound(object));
}

export const notFound = ({ resource, name, namespace }: ObjectReference): string =>
    `there is no ${resource.kind} ${name} in namespace ${namespace}`;
