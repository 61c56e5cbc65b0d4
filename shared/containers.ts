import { type Attributes, matches, parseAttributes } from "./attributes";
import { labels } from "./labels";

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

/** A pod as the API server describes it, as far as discovery looks at it. */
export interface Pod {
    metadata?: {
        name?: string;
        namespace?: string;
        uid?: string;
        labels?: Record<string, string>;
        deletionTimestamp?: unknown;
        ownerReferences?: Owner[];
    };
    spec?: {
        nodeName?: string;
        hostNetwork?: boolean;
        containers: { name: string; image?: string; ports?: { containerPort: number; protocol?: string }[] }[];
    };
    status?: {
        phase?: string;
        podIP?: string;
        containerStatuses?: { name: string; containerID?: string }[];
        conditions?: { type: string; status: string }[];
    };
}

export interface Owner {
    kind: string;
    name: string;
    uid: string;
}

/** A ReplicaSet as the API server describes it, as far as it tells whose it is. */
export interface ReplicaSet {
    metadata?: { uid?: string; ownerReferences?: { kind: string; name: string }[] };
}

/** Namespaces that belong to the cluster itself. */
const clusterNamespaces = ["kube-system", "kube-public", "kube-node-lease"];

/**
 * Whether an experiment may touch a pod at all. Never: the cluster's own namespaces, pods on the host's network (a
 * NetworkPolicy does not bind them), pods labelled as protected, and the pods of experiments themselves.
 */
export function attackable({ metadata, spec, status }: Pod): boolean {
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

/** Whether Services send a pod what is for them. */
export function isReady({
    status,
}: {
    status?: { conditions?: readonly { type: string; status: string }[] };
}): boolean {
    return status?.conditions?.some(({ type, status: state }) => type === "Ready" && state === "True") ?? false;
}

/**
 * The containers of a running pod with their attributes: the same whether an agent looks or the API server is asked.
 *
 * @param deployment the Deployment behind the ReplicaSet that made the pod, where there is one
 */
export function containersOf(pod: Pod, deployment: string | undefined, clusterName: string): Discovered[] {
    const { name, namespace, uid } = pod.metadata as { name: string; namespace: string; uid: string };
    const running = new Map(pod.status!.containerStatuses?.map((status) => [status.name, status.containerID ?? ""]));
    return pod.spec!.containers.map((container) => ({
        namespace,
        pod: name,
        uid,
        container: container.name,
        containerId: running.get(container.name) ?? "",
        address: pod.status!.podIP!,
        ports: (container.ports ?? [])
            .filter(({ protocol = "TCP" }) => protocol === "TCP")
            .map(({ containerPort }) => containerPort),
        attributes: {
            "k8s.cluster-name": clusterName,
            "k8s.namespace": namespace,
            "k8s.pod.name": name,
            "k8s.container.name": container.name,
            "container.image": container.image ?? "",
            "container.id": running.get(container.name) ?? "",
            "host.hostname": pod.spec!.nodeName ?? "",
            ...ownersOf(pod, deployment),
            ...Object.fromEntries(
                Object.entries(pod.metadata!.labels ?? {}).map(([key, value]) => [`k8s.label.${key}`, value]),
            ),
        },
    }));
}

/** The ReplicaSet that made a pod, if one did: whose Deployment has to be looked up. */
export function replicaSetOf(pod: Pod): Owner | undefined {
    return pod.metadata?.ownerReferences?.find(({ kind }) => kind === "ReplicaSet");
}

/** The Deployments behind ReplicaSets, by the ReplicaSets' uids. */
export function deploymentsByReplicaSet(replicaSets: readonly ReplicaSet[]): Map<string, string | undefined> {
    return new Map(
        replicaSets.map(({ metadata }) => [
            metadata!.uid!,
            metadata!.ownerReferences?.find(({ kind }) => kind === "Deployment")?.name,
        ]),
    );
}

/** `k8s.deployment`, `k8s.statefulset`, `k8s.daemonset` or `k8s.job`, whichever made the pod. */
function ownersOf(pod: Pod, deployment: string | undefined): Record<string, string> {
    if (deployment !== undefined) return { "k8s.deployment": deployment };
    const owners = (pod.metadata!.ownerReferences ?? []).filter(({ kind }) =>
        ["StatefulSet", "DaemonSet", "Job"].includes(kind),
    );
    return Object.fromEntries(owners.map(({ kind, name }) => [`k8s.${kind.toLowerCase()}`, name]));
}

/** The discovered containers that an attribute expression describes. */
export function select<T extends { attributes: Attributes }>(discovered: readonly T[], expression: string): T[] {
    const conditions = parseAttributes(expression);
    return discovered.filter(({ attributes }) => matches(conditions, attributes));
}
