import { targetLabelOf } from "../../../cluster/labels";
import { attackable, containersOf, isReady, ownerOf, type Pod, select } from "../../../targets/containers";
import { whyNotKillable } from "../../../targets/eligible";
import { containersWithin, type Radius } from "../../../targets/radius";

/** Which pods the Job kills, and how often. */
export interface Killing {
    intervalMs: number;
    /** @default they are deleted */
    by?: "deletion" | "eviction";
    /** Attributes of the containers, including their namespace. */
    target: string;
    /** Set if the pods must run on certain nodes, too: the request names these. */
    isOnNodes?: true;
    radius: Radius;
    clusterName: string;
    effect: string;
}

/** Data of the ConfigMap that is the request to the Job. */
export interface RequestData {
    /** Names of the nodes on which pods match, comma-separated. Absent if they match on all. */
    nodes?: string;
    /** How many containers matched when the targets were chosen: a Job that starts again may find fewer. */
    atFirst?: string;
}

export interface Candidate {
    name: string;
    uid: string;
    /** The attribute of its workload. A kill spares pods without one. */
    workload: string;
    /** Whether it was chosen as one of the first victims. */
    labeled: boolean;
    ready: boolean;
    /** How many of its containers match. */
    containers: number;
    /**
     * The Deployment, or the ReplicaSet without one, that says how many pods there are to be. Absent if it has neither.
     */
    owner?: string;
}

/**
 * What a kill needs to know about a pod, ready or not. Undefined if the pod does not match the kill's target, if
 * another attack has labeled it, or if a kill spares it.
 *
 * @param label value of the label on this kill's first victims
 * @param nodes @default pods on all nodes match
 */
export function candidateOf(
    pod: Pod,
    deployment: string | undefined,
    { target, clusterName, label }: Pick<Killing, "target" | "clusterName"> & { label: string },
    nodes?: ReadonlySet<string>,
): Candidate | undefined {
    if (nodes && !nodes.has(pod.spec?.nodeName ?? "")) return undefined;
    if (pod.status?.phase !== "Running" && pod.status?.phase !== "Pending") return undefined;
    const labeled = targetLabelOf(pod);
    if ((labeled ?? label) !== label) return undefined;
    // A pod that is starting cannot be attacked yet, but counts as affected.
    const started = { ...pod, status: { ...pod.status, podIP: pod.status.podIP ?? "", phase: "Running" } };
    if (!attackable(started)) return undefined;
    const matching = select(containersOf(started, deployment, clusterName), target);
    const killable = matching.filter((container) => whyNotKillable(container, target) === undefined);
    if (killable.length === 0) return undefined;
    const { name, uid } = pod.metadata as { name: string; uid: string };
    const workload = ownerOf(killable[0]!.attributes) ?? "";
    const containers = killable.length;
    return { name, uid, workload, labeled: labeled !== undefined, ready: isReady(pod), containers };
}

export const containersIn = (pods: readonly Candidate[]): number =>
    pods.reduce((sum, { containers }) => sum + containers, 0);

/**
 * How many containers are to match now, or undefined if that is not known. A workload may have been scaled since, and
 * may have no pod at the moment.
 *
 * @param met how many containers match in a pod of each owner that had one
 * @param replicas how many pods each owner wants. An owner that does not exist wants none
 */
export const wantedIn = (
    met: ReadonlyMap<string | undefined, number>,
    replicas: ReadonlyMap<string, number>,
): number | undefined =>
    met.size === 0 || met.has(undefined)
        ? undefined
        : [...met].reduce((sum, [owner, containers]) => sum + (replicas.get(owner!) ?? 0) * containers, 0);

/** How many containers that match are missing, or in pods that are not ready. */
export const affectedIn = (matching: readonly Candidate[], wanted: number): number =>
    Math.max(wanted, containersIn(matching)) - containersIn(matching.filter(({ ready }) => ready));

/**
 * The pods that the next kill deletes. A deleted pod is affected until its replacement is ready: never more containers
 * than the radius allows are affected at once.
 *
 * @param wanted how many containers are to match: those before the first kill, or fewer if workloads were scaled down
 * @param shuffle gives the order in which pods are taken, after those that are labeled
 */
export function chooseVictims(
    matching: readonly Candidate[],
    wanted: number,
    { radius }: Pick<Killing, "radius">,
    shuffle: <T>(items: readonly T[]) => T[],
): Candidate[] {
    const ready = matching.filter((pod) => pod.ready);
    let allowed = containersWithin(radius, wanted) - affectedIn(matching, wanted);
    const inOrder = [...ready.filter((pod) => pod.labeled), ...shuffle(ready.filter((pod) => !pod.labeled))];
    return inOrder.filter(({ containers }) => {
        if (containers > allowed) return false;
        allowed -= containers;
        return true;
    });
}

/** Why `chooseVictims` gives none even if no pod is missing, and all are ready. Undefined if it may give some. */
export function whyNoVictim(
    matching: readonly Candidate[],
    wanted: number,
    { radius }: Pick<Killing, "radius">,
): string | undefined {
    if (wanted === 0) return "no pod of its target is wanted any more";
    const allowed = containersWithin(radius, wanted);
    if (allowed > 0 && (matching.length === 0 || matching.some(({ containers }) => containers <= allowed)))
        return undefined;
    const allows = `the radius allows ${allowed} of the ${wanted} containers wanted now`;
    return allowed === 0 ? allows : `${allows}, and each pod has more`;
}
