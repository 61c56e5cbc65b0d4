import type { V1Pod } from "@kubernetes/client-node";
import { matches, parseAttributes, type Attributes } from "../../shared/attributes";
import type { Cluster } from "../../shared/kubernetes";
import { labels } from "../../shared/labels";

/** A container that could be attacked, and how to reach it. */
export interface Target {
    namespace: string;
    pod: string;
    /** Of the pod: another pod of the same name has another one. */
    uid: string;
    container: string;
    /** Changes with every restart of the container. */
    containerId: string;
    address: string;
    /** TCP ports that the container declares. */
    ports: number[];
}

export interface Discovered extends Target {
    attributes: Attributes;
}

/** Namespaces that belong to the cluster itself. */
const clusterNamespaces = ["kube-system", "kube-public", "kube-node-lease"];

/**
 * The containers of an area that run and may be attacked, with their attributes. Never among them: the cluster's own
 * namespaces, pods on the host's network (a NetworkPolicy does not bind them), pods labelled as protected, and the
 * pods of experiments themselves.
 *
 * @param area `Global`, or one namespace
 */
export async function discover(cluster: Cluster, area: string, clusterName: string): Promise<Discovered[]> {
    const [pods, replicaSets] = await Promise.all(
        area === "Global"
            ? [cluster.core.listPodForAllNamespaces(), cluster.apps.listReplicaSetForAllNamespaces()]
            : [cluster.core.listNamespacedPod({ namespace: area }), cluster.apps.listNamespacedReplicaSet({ namespace: area })],
    );
    const deploymentOf = new Map(
        replicaSets.items.map(({ metadata }) => [metadata!.uid!, metadata!.ownerReferences?.find(({ kind }) => kind === "Deployment")?.name]),
    );
    return pods.items.filter(attackable).flatMap((pod) => containersOf(pod, deploymentOf, clusterName));
}

/** The discovered containers that an attribute expression describes. */
export function select<T extends { attributes: Attributes }>(discovered: readonly T[], expression: string): T[] {
    const conditions = parseAttributes(expression);
    return discovered.filter(({ attributes }) => matches(conditions, attributes));
}

/** Whether an experiment may touch a pod at all. */
export function attackable({ metadata, spec, status }: V1Pod): boolean {
    const podLabels = metadata?.labels ?? {};
    return (
        status?.phase === "Running" &&
        metadata?.deletionTimestamp === undefined &&
        status.podIP !== undefined &&
        spec?.hostNetwork !== true &&
        !clusterNamespaces.includes(metadata!.namespace!) &&
        podLabels[labels.protected] !== "true" &&
        podLabels[labels.experiment] === undefined
    );
}

function containersOf(pod: V1Pod, deploymentOf: ReadonlyMap<string, string | undefined>, clusterName: string): Discovered[] {
    const { name, namespace, uid } = pod.metadata as { name: string; namespace: string; uid: string };
    const running = new Map(pod.status!.containerStatuses?.map((status) => [status.name, status.containerID ?? ""]));
    return pod.spec!.containers.map((container) => ({
        namespace,
        pod: name,
        uid,
        container: container.name,
        containerId: running.get(container.name) ?? "",
        address: pod.status!.podIP!,
        ports: (container.ports ?? []).filter(({ protocol = "TCP" }) => protocol === "TCP").map(({ containerPort }) => containerPort),
        attributes: {
            "k8s.cluster-name": clusterName,
            "k8s.namespace": namespace,
            "k8s.pod.name": name,
            "k8s.container.name": container.name,
            "container.image": container.image ?? "",
            "container.id": running.get(container.name) ?? "",
            "host.hostname": pod.spec!.nodeName ?? "",
            ...ownersOf(pod, deploymentOf),
            ...Object.fromEntries(Object.entries(pod.metadata!.labels ?? {}).map(([key, value]) => [`k8s.label.${key}`, value])),
        },
    }));
}

/** `k8s.deployment`, `k8s.statefulset`, `k8s.daemonset` or `k8s.job`, whichever made the pod. */
function ownersOf(pod: V1Pod, deploymentOf: ReadonlyMap<string, string | undefined>): Record<string, string> {
    const owners = pod.metadata!.ownerReferences ?? [];
    return Object.fromEntries(
        owners.flatMap(({ kind, name, uid }) => {
            const deployment = kind === "ReplicaSet" ? deploymentOf.get(uid) : undefined;
            if (deployment !== undefined) return [["k8s.deployment", deployment]];
            return ["StatefulSet", "DaemonSet", "Job"].includes(kind) ? [[`k8s.${kind.toLowerCase()}`, name]] : [];
        }),
    );
}
