import type {
    V1ContainerStatus,
    V1DaemonSet,
    V1Deployment,
    V1ObjectMeta,
    V1Pod,
    V1StatefulSet,
} from "../../chaos/values/kubernetes-types";
import type { Cluster } from "../../chaos/cluster/client";
import { kubectlFor } from "../../chaos/values/kubectl";
import { experimentOf, targetLabelOf } from "../../chaos/cluster/labels";
import type { StackConfiguration } from "../configuration/read";
import { pulumiCommand, setCommand } from "../pulumi-command";
import type { LeftOut } from "./left-out";

/** A workload's pods, as its controller counts them. */
export interface Count {
    wanted: number;
    /** Ready for as long as `minReadySeconds` asks. */
    ready: number;
    /** Whether the controller has observed the current spec, and all wanted pods are of it and ready. */
    complete: boolean;
    /** Of a DaemonSet, which nodes are left out; see `LeftOut`. @default not known */
    leftOut?: string;
    /** Of a DaemonSet, whether it is known that no node of the cluster may run it. @default false */
    hasNoNode?: boolean;
}

export function countOf(workload: V1Deployment | V1StatefulSet): Count {
    const { replicas, availableReplicas, updatedReplicas } = workload.status ?? {};
    return count(workload, workload.spec?.replicas ?? 1, [availableReplicas, updatedReplicas, replicas]);
}

/** @param leftOut those of its pods are not waited for. @default none */
export function countOnNodes(workload: V1DaemonSet, leftOut?: LeftOut): Count {
    const { desiredNumberScheduled = 0, numberAvailable, updatedNumberScheduled = 0 } = workload.status ?? {};
    const wanted = desiredNumberScheduled - (leftOut?.pods ?? 0);
    // A pod on a node that is not ready may be of the current spec, or stay as it is.
    const counts = [numberAvailable, Math.min(updatedNumberScheduled, wanted)];
    const hasNoNode = isObserved(workload) && desiredNumberScheduled === 0 && Boolean(leftOut?.why);
    return { ...count(workload, wanted, counts), leftOut: leftOut?.why, hasNoNode };
}

interface Observed {
    metadata?: V1ObjectMeta;
    status?: { observedGeneration?: number };
}

const isObserved = ({ metadata, status }: Observed) => status?.observedGeneration === metadata!.generation;

/** @param counts ready pods, pods of the current spec, all pods: those of the previous spec may be ready, too */
function count(workload: Observed, wanted: number, counts: (number | undefined)[]): Count {
    const complete = isObserved(workload) && counts.every((pods = 0) => pods === wanted);
    return { wanted, ready: counts[0] ?? 0, complete };
}

/** The settings that decide how the shop's pods are made. */
export type Making = Pick<StackConfiguration, "install" | "images">;

/**
 * Why a workload is not ready, and what to do about it. Undefined if it is ready.
 *
 * @param pods the workload's, without pods that are being deleted
 * @param dispensable whether variant four works without it. @default false
 */
export function whatItWaitsFor(
    cluster: Pick<Cluster, "kubeconfig">,
    deployment: V1Deployment,
    pods: readonly V1Pod[],
    making: Making,
    dispensable = false,
): string | undefined {
    const { name, namespace } = deployment.metadata!;
    const kubectl = kubectlFor(cluster, namespace);
    if (countOf(deployment).complete) return undefined;
    const refused = deployment.status?.conditions?.find(
        ({ type, status }) => type === "ReplicaFailure" && status === "True",
    );
    if (refused)
        return (
            `${name} has no pod: the cluster refuses to create one: ${sentence(refused.message)} ` +
            `Fix the cause, such as a quota of namespace ${namespace}, and run \`${pulumiCommand(["up"])}\` again.`
        );
    for (const pod of pods) {
        const reason = unscheduled(name!, pod, making, dispensable) ?? notStarting(deployment, kubectl, pod, making);
        if (reason !== undefined) return reason;
    }
    const attack = pods.map(targetLabelOf).find((value) => value !== undefined);
    if (attack !== undefined)
        return `${name} was under attack by the experiment ${experimentOf(attack)}. The next update checks it again.`;
    const phase = pods.find(({ status }) => status?.phase !== "Running")?.status?.phase;
    return phase
        ? `${name} is ${phase}: its container is starting. Look at \`${kubectl} describe deployment ${name}\`.`
        : `${name} is not ready yet: its readiness probe fails. Look at \`${kubectl} logs deployment/${name}\`.`;
}

const set = (key: string, value: string) => `\`${setCommand(key, value)}\``;

/**
 * What keeps pods from nodes, in the words of the scheduler's plugins
 * (https://github.com/kubernetes/kubernetes/tree/v1.34.0/pkg/scheduler/framework/plugins), and what to do about it. The
 * taints of `node.kubernetes.io` say what is wrong with a node.
 */
const obstacles: { words: RegExp; remedy: (setting: (key: string, value: string) => string) => string }[] = [
    {
        words: /Insufficient |Too many pods/,
        remedy: () => "make room (a larger node, another node, or fewer replicas)",
    },
    {
        words: /taint(?! \{node\.kubernetes\.io\/)/,
        remedy: (setting) => `tolerate the taint (${setting("nodes.tolerations", "TAINTS")})`,
    },
    {
        words: /node affinity\/selector/,
        remedy: (setting) => `select labels that a node has (${setting("nodes.selector", "LABELS")})`,
    },
];

function unscheduled(name: string, pod: V1Pod, { install }: Making, dispensable: boolean): string | undefined {
    const { unscheduled: message } = problemsOf(pod);
    if (message === undefined) return undefined;
    // The pods of a chart are not placed by settings.
    const setting = install.kind === "chart" ? () => "in `chart.values`" : set;
    const remedies = obstacles.filter(({ words }) => words.test(message)).map(({ remedy }) => remedy(setting));
    if (remedies.length === 0) remedies.push("fix the cause");
    if (dispensable) remedies.push(`do without it (${set("variant", "four")})`);
    const advice = remedies.join(" or ");
    return (
        `${name} is Pending: no node takes it: ${sentence(message)} ` +
        `${advice[0]!.toUpperCase()}${advice.slice(1)}, and run \`${pulumiCommand(["up"])}\` again.`
    );
}

function notStarting(
    { metadata, spec }: V1Deployment,
    kubectl: string,
    pod: V1Pod,
    { install, images }: Making,
): string | undefined {
    const failing = problemsOf(pod).containers.find(isFailure);
    if (!failing) return undefined;
    const { name } = metadata!;
    const { containers = [], initContainers = [] } = spec?.template.spec ?? {};
    const image = [...initContainers, ...containers].find((each) => each.name === failing.name)?.image;
    const [key] = Object.entries(images).find(([, value]) => value === image) ?? [];
    const remedy = failing.waitsFor!.includes("Image")
        ? install.kind === "program" && key !== undefined
            ? `Set an image that the cluster can pull with ${set(`images.${key}`, "IMAGE")}`
            : `Have ${name} use an image that the cluster can pull`
        : `Look at \`${kubectl} logs ${pod.metadata!.name} --container ${failing.name} --previous\``;
    return (
        `${name} is ${pod.status!.phase}: its container does not start: ${sentence(failing.reason)} ` +
        `${remedy}, and run \`${pulumiCommand(["up"])}\` again.`
    );
}

function isFailure({ waitsFor }: ContainerProblem): boolean {
    return waitsFor !== undefined && !["ContainerCreating", "PodInitializing"].includes(waitsFor);
}

const sentence = (message = "no reason given") =>
    /[.!?]$/.test(message.trim()) ? message.trim() : `${message.trim()}.`;

/** Why a pod is not ready, as far as its status says. */
export interface PodProblems {
    /** The scheduler's message, if no node takes the pod. */
    unscheduled?: string;
    containers: ContainerProblem[];
}

export interface ContainerProblem {
    name: string;
    /** What the container waits for, such as `CrashLoopBackOff`. */
    waitsFor?: string;
    /** What it waits for and how it ended, in words. */
    reason: string;
}

export function problemsOf({ status }: V1Pod): PodProblems {
    const condition = status?.conditions?.find(({ type, status }) => type === "PodScheduled" && status === "False");
    return {
        unscheduled: condition && (condition.message ?? "no reason given"),
        containers: [...(status?.initContainerStatuses ?? []), ...(status?.containerStatuses ?? [])].flatMap(
            containerProblem,
        ),
    };
}

function containerProblem({ name, ready, state, lastState }: V1ContainerStatus): ContainerProblem[] {
    if (ready) return [];
    const { reason: waitsFor, message } = state?.waiting ?? {};
    const ended = state?.terminated ?? lastState?.terminated;
    const waiting = [waitsFor, message].filter(Boolean).join(": ");
    const exit = ended && `it ended with code ${ended.exitCode} (${ended.reason})`;
    const reason = [waiting, exit].filter(Boolean).join("; ");
    return reason === "" ? [] : [{ name, waitsFor, reason }];
}
