import type { V1OwnerReference } from "../values/kubernetes-types";
import { addressesOf, isReady, isSidecar, type Pod, runningIdOf, tcpPortsOf } from "../values/kubernetes-rules";
import { isProtected, labels } from "../cluster/labels";
import { attributeOf, type Attributes, matches, parseAttributes } from "./attributes";
import { type Nodes, onNodes } from "./nodes";

export { isReady, type Pod };

/** A container that can be attacked, and how to reach it. */
export interface Target {
    namespace: string;
    pod: string;
    /** Of the pod: another pod with the same name has another uid. */
    uid: string;
    container: string;
    /** The node of its pod. Absent in what an earlier version has noted. */
    node?: string;
    /** Changes with every restart of the container. Empty if it does not run. */
    containerId: string;
    address: string;
    /** All addresses of a pod that has several: one of each family. @default `address` is the only one */
    addresses?: string[];
    /** TCP ports that its pod declares, in any of its containers and native sidecars: these share its address. */
    ports: number[];
    /** The tool by which connections are tried from within the pod. @default a shell in this container */
    prober?: Prober;
}

/** The addresses of a target's pod: of each family one. */
export const addressesOfTarget = ({ address, addresses = [address] }: Pick<Target, "address" | "addresses">) =>
    addresses;

/** A container and a tool in it. All containers of a pod share its network. */
export interface Prober {
    container: string;
    /** A program that is run without a shell. @default what the container's shell finds */
    program?: string;
}

export interface Discovered extends Target {
    attributes: Attributes;
    ready: boolean;
    /** Set if nothing would replace its pod. */
    bare?: true;
    /** Containers of its pod that are no targets, and run: native sidecars and ephemeral ones. @default none */
    helpers?: string[];
    /** Why no experiment attacks it; completes "its pod is …". Absent in what may be attacked. */
    spared?: string;
}

/** Its owner is a Deployment. */
export type ReplicaSet = Pick<Pod, "metadata">;

export const isSystemNamespace = (namespace: string) =>
    ["kube-system", "kube-public", "kube-node-lease"].includes(namespace);

export const isRunning = ({ status }: Pod): boolean => status?.phase === "Running";

/** Whether an experiment may touch a pod at all. */
export const attackable = (pod: Pod): boolean => isRunning(pod) && whySpared(pod) === undefined;

/**
 * Why no experiment touches a running pod, for any attack; completes "its pod is …". Undefined if one
 * may. A NetworkPolicy does not apply to pods on the host's network.
 */
export function whySpared({ metadata, spec, status }: Pod): string | undefined {
    const { namespace, deletionTimestamp, labels: podLabels = {} } = metadata!;
    if (isSystemNamespace(namespace!)) return `in the cluster's own namespace ${namespace}`;
    if (isProtected(podLabels)) return `labeled ${labels.protected}=true`;
    if (podLabels[labels.experiment] !== undefined) return "made by an experiment";
    if (spec?.hostNetwork === true) return "on the host's network";
    if (deletionTimestamp !== undefined) return "terminating";
    return status?.podIP === undefined ? "without an address" : undefined;
}

/**
 * The containers of a running pod with their attributes. Agents and the API server's clients describe them by this
 * code. Init containers, native sidecars among them, and ephemeral containers are left out: they belong to the pod, not
 * to what a radius counts, and so do their ports. So are containers that have ended for good, as in a Job's pod.
 */
export function containersOf(pod: Pod, deployment: string | undefined, clusterName: string): Discovered[] {
    const { name, namespace, uid } = pod.metadata as { name: string; namespace: string; uid: string };
    const addresses = addressesOf(pod);
    const running = new Map(pod.status!.containerStatuses?.map((status) => [status.name, runningIdOf(status)]));
    const [ended, helpers, bare] = [endedIn(pod), helpersIn(pod), isBare(pod)];
    const ports = tcpPortsOf(pod);
    const { nodeName } = pod.spec!;
    const lasting = pod.spec!.containers.filter((container) => !ended.has(container.name));
    return lasting.map((container) => ({
        namespace,
        pod: name,
        uid,
        container: container.name,
        ...(nodeName && { node: nodeName }),
        containerId: running.get(container.name) ?? "",
        address: pod.status!.podIP!,
        ...(addresses.length > 1 && { addresses }),
        ports,
        ready: isReady(pod),
        ...(bare && { bare }),
        ...(helpers.length > 0 && { helpers }),
        attributes: {
            "k8s.cluster-name": clusterName,
            "k8s.namespace": namespace,
            "k8s.pod.name": name,
            "k8s.container.name": container.name,
            "container.image": container.image ?? "",
            "container.id": running.get(container.name) ?? "",
            "host.hostname": nodeName ?? "",
            "k8s.node.name": nodeName ?? "",
            ...ownersOf(pod, deployment),
            ...Object.fromEntries(
                Object.entries(pod.metadata!.labels ?? {}).map(([key, value]) => [`k8s.label.${key}`, value]),
            ),
        },
    }));
}

/** Names of the containers that have ended, and are not started again. */
function endedIn({ spec, status }: Pod): Set<string> {
    const { restartPolicy = "Always" } = spec!;
    const ended = restartPolicy === "Always" ? [] : (status!.containerStatuses ?? []);
    return new Set(ended.filter(({ state }) => state?.terminated).map(({ name }) => name));
}

/** Names of the running native sidecars and ephemeral containers. */
function helpersIn({ spec, status }: Pod): string[] {
    const sidecars = (spec!.initContainers ?? []).filter(isSidecar);
    const names = new Set(sidecars.map(({ name }) => name));
    const helpers = [
        ...(status!.initContainerStatuses ?? []).filter(({ name }) => names.has(name)),
        ...(status!.ephemeralContainerStatuses ?? []),
    ];
    return helpers.filter(({ state }) => state?.running).map(({ name }) => name);
}

/** Whether nothing would replace a pod. A node owns the copy of a pod that its kubelet runs from a file. */
function isBare({ metadata }: Pod): boolean {
    return !metadata!.ownerReferences?.some(({ controller, kind }) => controller && kind !== "Node");
}

export function replicaSetOf(pod: Pod): V1OwnerReference | undefined {
    return pod.metadata?.ownerReferences?.find(({ kind }) => kind === "ReplicaSet");
}

export function deploymentOf({ metadata }: ReplicaSet): string | undefined {
    return metadata!.ownerReferences?.find(({ kind }) => kind === "Deployment")?.name;
}

/** The containers of some running pods. Only its ReplicaSet says which Deployment a pod belongs to. */
export function containersOfAll(
    pods: readonly Pod[],
    replicaSets: readonly ReplicaSet[],
    clusterName: string,
): Discovered[] {
    const deployments = new Map(replicaSets.map((replicaSet) => [replicaSet.metadata!.uid!, deploymentOf(replicaSet)]));
    return pods.flatMap((pod) => containersOf(pod, deployments.get(replicaSetOf(pod)?.uid ?? ""), clusterName));
}

export function podsMatching<P extends Pod>(
    expression: string,
    pods: readonly P[],
    replicaSets: readonly ReplicaSet[],
    clusterName: string,
    nodes?: Nodes,
): P[] {
    const matching = select(onNodes(containersOfAll(pods, replicaSets, clusterName), nodes), expression);
    const uids = new Set(matching.map(({ uid }) => uid));
    return pods.filter(({ metadata }) => uids.has(metadata!.uid!));
}

const owningKinds = ["Deployment", "StatefulSet", "DaemonSet", "Job", "ReplicaSet"];

/** The attribute of the workload that owns the pod: a Deployment's pods have no `k8s.replicaset`. */
function ownersOf(pod: Pod, deployment: string | undefined): Record<string, string> {
    if (deployment !== undefined) return { "k8s.deployment": deployment };
    const owners = (pod.metadata!.ownerReferences ?? []).filter(({ kind }) => owningKinds.includes(kind));
    return Object.fromEntries(owners.map(({ kind, name }) => [attributeOf(kind), name]));
}

export function select<T extends { attributes: Attributes }>(discovered: readonly T[], expression: string): T[] {
    const conditions = parseAttributes(expression);
    return discovered.filter(({ attributes }) => matches(conditions, attributes));
}

/** The attribute of the workload that owns a container, as `k8s.deployment=hot-deals`. Undefined for a bare pod. */
export function ownerOf(attributes: Attributes): string | undefined {
    const key = owningKinds.map(attributeOf).find((owner) => owner in attributes);
    return key && `${key}=${attributes[key]}`;
}

/** The workloads that own some containers, each as a target names it: `k8s.deployment=hot-deals,k8s.namespace=demo`. */
export function workloadsOf(discovered: readonly Pick<Discovered, "attributes" | "namespace">[]): string[] {
    const workloads = discovered.flatMap(({ attributes, namespace }) => {
        const owner = ownerOf(attributes);
        return owner === undefined ? [] : `${owner},k8s.namespace=${namespace}`;
    });
    return [...new Set(workloads)].sort();
}

/** What the builtin agent and its clients agree on: the port, and the path of the containers of its node. */
export const agentPort = 8080;
export const targetsPath = "/targets";
/** Header with the caller's key. The API server's proxy does not pass `Authorization` on. */
export const agentKeyHeader = "X-Agent-Key";
/** Entry of the agent's Secret that holds the key. */
export const agentKeyEntry = "key";
