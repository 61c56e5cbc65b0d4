import type { V1ContainerStatus, V1ObjectMeta, V1Pod } from "@kubernetes/client-node";
import * as pulumi from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { isReady } from "../../shared/containers";
import { describeMilliseconds } from "../../shared/duration";
import { type Cluster, orMissing } from "../../shared/kubernetes";
import { UserError } from "../userError";

/** How what was installed stands. */
export interface Readiness {
    /** Pods that are ready, of those that there are to be: `1 of 1`. */
    ready: string;
    complete: boolean;
}

/** Workloads of a namespace that have to get ready. Others may be there, such as those that these take the place of. */
export interface Workloads {
    namespace: string;
    includes: (metadata: V1ObjectMeta) => boolean;
}

/** What was installed did not get ready. */
export class NotReadyError extends UserError {}

/**
 * Waits, in an update, until all pods of what was installed run as its workloads want them now; a preview tells what
 * there is. All ways of installing are waited for here, since of a DaemonSet's, a chart's and a manifest's own ways of
 * waiting none says which pod it was that did not get ready, and why.
 *
 * @param subject what was installed, for words about it: `the agent`
 * @param giveUpAt when the limit is reached, in milliseconds since the epoch
 * @param timeoutMs how long the limit is, for words about it
 * @throws NotReadyError that names the pod and the reason
 */
export async function awaitReady(
    cluster: Cluster,
    subject: string,
    workloads: readonly Workloads[],
    giveUpAt: number,
    timeoutMs: number,
): Promise<Readiness> {
    for (;;) {
        const state = await stateOf(cluster, workloads);
        if (state.complete || pulumi.runtime.isDryRun()) return state;
        if (Date.now() >= giveUpAt) {
            const namespaces = [...new Set(workloads.map(({ namespace }) => namespace))];
            const reasons = (await Promise.all(namespaces.map((namespace) => whatIsWrong(cluster, namespace)))).flat();
            throw new NotReadyError(
                `${subject} is not ready after ${describeMilliseconds(timeoutMs)}: ${state.ready} pods are.\n` +
                    `${(reasons.length > 0 ? reasons : ["no pod was made"]).map((reason) => `  ${reason}`).join("\n")}\n` +
                    `Look at \`kubectl --namespace ${namespaces[0]} describe pods\`; mend the cause, then run pulumi up again.`,
            );
        }
        await sleep(250);
    }
}

async function stateOf(cluster: Cluster, workloads: readonly Workloads[]): Promise<Readiness> {
    const counts = (await Promise.all(workloads.map((workload) => countsOf(cluster, workload)))).flat();
    const sum = (pick: (count: Count) => number) => counts.reduce((total, count) => total + pick(count), 0);
    const wanted = sum((count) => count.wanted);
    return {
        ready: `${sum((count) => count.ready)} of ${wanted}`,
        complete: wanted > 0 && counts.every((count) => count.settled && count.ready === count.wanted),
    };
}

interface Count {
    wanted: number;
    ready: number;
    /** Whether the controller has seen the workload as it is now, and all pods are of it. */
    settled: boolean;
}

async function countsOf({ apps }: Cluster, { namespace, includes }: Workloads): Promise<Count[]> {
    const [daemonSets, deployments, statefulSets] = await Promise.all([
        apps.listNamespacedDaemonSet({ namespace }),
        apps.listNamespacedDeployment({ namespace }),
        apps.listNamespacedStatefulSet({ namespace }),
    ]);
    const onNodes = daemonSets.items
        .filter(({ metadata }) => includes(metadata!))
        .map(({ metadata, status }) => ({
            wanted: status?.desiredNumberScheduled ?? 0,
            ready: status?.numberReady ?? 0,
            settled:
                status?.observedGeneration === metadata!.generation &&
                (status?.updatedNumberScheduled ?? 0) === status?.desiredNumberScheduled,
        }));
    const others = [...deployments.items, ...statefulSets.items]
        .filter(({ metadata }) => includes(metadata!))
        .map(({ metadata, spec, status }) => ({
            wanted: spec?.replicas ?? 1,
            ready: status?.readyReplicas ?? 0,
            // Pods of before may be ready where their successors are not.
            settled:
                status?.observedGeneration === metadata!.generation &&
                [status?.updatedReplicas, status?.replicas].every((count = 0) => count === (spec?.replicas ?? 1)),
        }));
    return [...onNodes, ...others];
}

/** A line for every pod that is not ready, and where there is no pod the cluster's own warnings. */
async function whatIsWrong(cluster: Cluster, namespace: string): Promise<string[]> {
    const { items } = await cluster.core.listNamespacedPod({ namespace });
    const wrong = items.filter((pod) => !isReady(pod));
    if (wrong.length > 0) return Promise.all(wrong.map((pod) => reasonOf(cluster, pod)));
    const { items: events } = (await orMissing(
        cluster.core.listNamespacedEvent({ namespace, fieldSelector: "type=Warning" }),
    )) ?? { items: [] };
    return [
        ...new Set(
            events.map(
                ({ involvedObject, message }) =>
                    `${involvedObject.kind} ${namespace}/${involvedObject.name}: ${message}`,
            ),
        ),
    ].slice(-3);
}

async function reasonOf(cluster: Cluster, pod: V1Pod): Promise<string> {
    const { name, namespace } = pod.metadata as { name: string; namespace: string };
    const reasons = (pod.status?.containerStatuses ?? []).map(containerReason).filter((reason) => reason !== undefined);
    const unscheduled = pod.status?.conditions?.find(
        ({ type, status }) => type === "PodScheduled" && status === "False",
    )?.message;
    if (unscheduled) reasons.push(unscheduled);
    if (reasons.length === 0) {
        const { items } = await cluster.core.listNamespacedEvent({
            namespace,
            fieldSelector: `type=Warning,involvedObject.name=${name}`,
        });
        reasons.push(items.at(-1)?.message ?? `it is ${pod.status?.phase ?? "unknown"}`);
    }
    return `pod ${namespace}/${name}: ${reasons.join("; ")}`;
}

function containerReason({ name, ready, state, lastState }: V1ContainerStatus): string | undefined {
    if (ready) return undefined;
    const ended = state?.terminated ?? lastState?.terminated;
    const exit = ended && `it ended with code ${ended.exitCode} (${ended.reason})`;
    const waiting = state?.waiting && [state.waiting.reason, state.waiting.message].filter(Boolean).join(": ");
    const reasons = [waiting, exit].filter(Boolean).join("; ");
    return reasons === "" ? undefined : `container ${name}: ${reasons}`;
}
