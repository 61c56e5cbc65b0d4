import type { V1DaemonSet, V1Node, V1ObjectMeta, V1Pod } from "../../chaos/values/kubernetes-types";
import * as pulumi from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { kubectlFor } from "../../chaos/values/kubectl";
import { isReady } from "../../chaos/targets/containers";
import { describeMilliseconds } from "../../chaos/values/duration";
import { type Cluster, unlessForbidden } from "../../chaos/cluster/client";
import { UserError } from "../../chaos/values/user-error";
import { leftOutOf } from "./left-out";
import { type Count, countOf, countOnNodes, problemsOf } from "./waiting";
import { pulumiCommand } from "../pulumi-command";
import { otherResources, resources } from "../../chaos/cluster/resources";

/** Workloads that must become ready. The namespace may contain others, such as the ones that these replace. */
export interface Workloads {
    namespace: string;
    includes: (metadata: V1ObjectMeta) => boolean;
}

/**
 * Waits in an update until all pods of the workloads are ready and current. A preview does not wait. Replaces the waits
 * of Pulumi's DaemonSets, charts and manifests, which do not say which pod is not ready, and why. Does not wait for
 * pods of a DaemonSet on nodes that are not ready, if the account may list nodes.
 *
 * @param subject names the workloads in messages: `the agent`
 * @param giveUpAt the end of the limit, in milliseconds since the epoch
 * @param timeoutMs the length of the limit, for messages
 * @param instead how to do without the workloads, for messages. @default nothing
 * @returns ready pods of wanted pods: `1 of 1`, and how many nodes a DaemonSet leaves out: `2 of 2 (nodes left out: 1
 *   not ready)`
 * @throws UserError that names the pod and the reason; at once if no node may run one
 */
export async function awaitReady(
    cluster: Cluster,
    subject: string,
    workloads: readonly Workloads[],
    giveUpAt: number,
    timeoutMs: number,
    instead?: string,
): Promise<string> {
    const nodes = nodesOf(cluster);
    for (;;) {
        const { ready, complete, hasNoNode, leftOut } = await stateOf(cluster, nodes, workloads);
        const without = leftOut === "" ? "" : ` (nodes left out: ${leftOut})`;
        if (complete || pulumi.runtime.isDryRun()) return `${ready}${without}`;
        if (hasNoNode || Date.now() >= giveUpAt) {
            const namespaces = [...new Set(workloads.map(({ namespace }) => namespace))];
            const reasons = (await Promise.all(namespaces.map((namespace) => whatIsWrong(cluster, namespace)))).flat();
            const lines = (reasons.length > 0 ? reasons : ["there is no pod"]).map((reason) => `  ${reason}`);
            const state = hasNoNode
                ? `cannot become ready: no node may run it${without}`
                : `is not ready after ${describeMilliseconds(timeoutMs)}: ${ready} pods are ready`;
            throw new UserError(
                `${subject} ${state}.\n` +
                    `${lines.join("\n")}\nLook at \`${kubectlFor(cluster, namespaces[0])} describe pods\`; ` +
                    `fix the cause, then run \`${pulumiCommand(["up"])}\` again.` +
                    (instead === undefined ? "" : `\n${instead}`),
            );
        }
        await sleep(250);
    }
}

type Nodes = () => Promise<V1Node[]>;

/** The cluster's nodes, which may be thousands, asked for every few seconds. Empty if the account may not list them. */
function nodesOf(cluster: Cluster): Nodes {
    let found: V1Node[] = [];
    let askAt = 0;
    return async () => {
        if (Date.now() < askAt) return found;
        found = (await unlessForbidden(cluster.all(otherResources.node))) ?? [];
        askAt = Date.now() + 5_000;
        return found;
    };
}

async function stateOf(cluster: Cluster, nodes: Nodes, workloads: readonly Workloads[]) {
    const counts = (await Promise.all(workloads.map((workload) => countsOf(cluster, nodes, workload)))).flat();
    const sum = (key: "wanted" | "ready") => counts.reduce((total, count) => total + count[key], 0);
    const wanted = sum("wanted");
    const complete = wanted > 0 && counts.every((count) => count.complete);
    const leftOut = [...new Set(counts.map((count) => count.leftOut ?? ""))].filter(Boolean).join("; ");
    const hasNoNode = counts.length > 0 && counts.every((count) => count.hasNoNode);
    return { ready: `${sum("ready")} of ${wanted}`, complete, hasNoNode, leftOut };
}

async function countsOf(cluster: Cluster, nodes: Nodes, { namespace, includes }: Workloads): Promise<Count[]> {
    const [daemonSets, deployments, statefulSets] = await Promise.all([
        cluster.all(otherResources.daemonSet, { namespace }),
        cluster.all(resources.deployment, { namespace }),
        cluster.all(otherResources.statefulSet, { namespace }),
    ]);
    const isIncluded = ({ metadata }: { metadata?: V1ObjectMeta }) => includes(metadata!);
    return [
        ...(await Promise.all(daemonSets.filter(isIncluded).map((one) => countOfDaemonSet(cluster, nodes, one)))),
        ...[...deployments, ...statefulSets].filter(isIncluded).map(countOf),
    ];
}

async function countOfDaemonSet(cluster: Cluster, nodes: Nodes, daemonSet: V1DaemonSet): Promise<Count> {
    const { uid, namespace } = daemonSet.metadata!;
    const pods = await unlessForbidden(cluster.all(resources.pod, { namespace: namespace! }));
    if (pods === undefined) return countOnNodes(daemonSet);
    const own = pods.filter(({ metadata }) => metadata?.ownerReferences?.some((owner) => owner.uid === uid));
    return countOnNodes(daemonSet, leftOutOf(own, await nodes()));
}

/** A line for each pod that is not ready. If there is none, the cluster's latest warnings. */
async function whatIsWrong(cluster: Cluster, namespace: string): Promise<string[]> {
    const items = await cluster.all(resources.pod, { namespace });
    const wrong = items.filter((pod) => !isReady(pod));
    if (wrong.length > 0) return Promise.all(wrong.map((pod) => whyPodNotReady(cluster, pod)));
    const events = await cluster.all(otherResources.event, { namespace, fieldSelector: "type=Warning" });
    const lines = events.map(
        ({ involvedObject: { kind, name }, message }) => `${kind} ${namespace}/${name}: ${message}`,
    );
    return [...new Set(lines)].slice(-3);
}

async function whyPodNotReady(cluster: Cluster, pod: V1Pod): Promise<string> {
    const { name, namespace } = pod.metadata as { name: string; namespace: string };
    const { containers, unscheduled } = problemsOf(pod);
    const reasons = containers.map((container) => `container ${container.name}: ${container.reason}`);
    if (unscheduled !== undefined) reasons.push(unscheduled);
    if (reasons.length === 0) {
        const items = await cluster.all(otherResources.event, {
            namespace,
            fieldSelector: `type=Warning,involvedObject.name=${name}`,
        });
        reasons.push(items.at(-1)?.message ?? `it is ${pod.status?.phase ?? "unknown"}`);
    }
    return `pod ${namespace}/${name}: ${reasons.join("; ")}`;
}
