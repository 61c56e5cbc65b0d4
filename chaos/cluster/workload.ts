import type {
    V1DaemonSetStatus,
    V1DeploymentSpec,
    V1DeploymentStatus,
    V1ObjectMeta,
    V1StatefulSetSpec,
} from "../values/kubernetes-types";
import type { Cluster } from "./client";
import { otherResources, type Resource, resources } from "./resources";

export interface Workload {
    kind: WorkloadKind;
    name: string;
}

export const workloadTypes = {
    Deployment: resources.deployment,
    StatefulSet: otherResources.statefulSet,
    DaemonSet: otherResources.daemonSet,
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
