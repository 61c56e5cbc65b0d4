import type { Cluster } from "../cluster/client";

/** What actions change. */
export interface Workload {
    kind: WorkloadKind;
    name: string;
}

export type WorkloadKind = "Deployment" | "StatefulSet" | "DaemonSet";

export const workloadKinds: readonly WorkloadKind[] = ["Deployment", "StatefulSet", "DaemonSet"];

/** What actions read of a workload. Some fields are those of one kind. */
export interface FoundWorkload {
    metadata?: { name?: string; generation?: number; labels?: Record<string, string> };
    spec?: {
        replicas?: number;
        paused?: boolean;
        template?: { metadata?: { labels?: Record<string, string> } };
        updateStrategy?: { type?: string; rollingUpdate?: { partition?: number; maxUnavailable?: unknown } };
    };
    status?: {
        observedGeneration?: number;
        conditions?: { type: string; reason?: string; message?: string }[];
        replicas?: number;
        updatedReplicas?: number;
        availableReplicas?: number;
        desiredNumberScheduled?: number;
        updatedNumberScheduled?: number;
        numberAvailable?: number;
    };
}

/** The plural that the API has for it: `deployments`. */
export const resourceOf = (kind: WorkloadKind) => `${kind.toLowerCase()}s`;

/** All workloads of a kind in a namespace. */
export async function workloadsOf({ apps }: Cluster, kind: WorkloadKind, namespace: string): Promise<FoundWorkload[]> {
    const lists: Record<WorkloadKind, () => Promise<{ items: FoundWorkload[] }>> = {
        Deployment: () => apps.listNamespacedDeployment({ namespace }),
        StatefulSet: () => apps.listNamespacedStatefulSet({ namespace }),
        DaemonSet: () => apps.listNamespacedDaemonSet({ namespace }),
    };
    return (await lists[kind]()).items;
}

/** @throws ApiException with code 404 if it does not exist */
export function readWorkload({ apps }: Cluster, { kind, name }: Workload, namespace: string): Promise<FoundWorkload> {
    const reads: Record<WorkloadKind, () => Promise<FoundWorkload>> = {
        Deployment: () => apps.readNamespacedDeployment({ name, namespace }),
        StatefulSet: () => apps.readNamespacedStatefulSet({ name, namespace }),
        DaemonSet: () => apps.readNamespacedDaemonSet({ name, namespace }),
    };
    return reads[kind]();
}
