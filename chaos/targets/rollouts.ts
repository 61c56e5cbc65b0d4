import { whatIsReplaced } from "../cluster/rollout-state";
import { readWorkload, type Workload, workloadKinds } from "../cluster/workload";
import { type Cluster, unlessForbidden } from "../cluster/client";
import { pause } from "../values/async";
import { attributeOf, type Attributes } from "./attributes";
import type { Discovered } from "./containers";

const pauseMs = 250;

/**
 * Waits until no rollout is about to replace some containers: it could remove a target, and then nothing would be
 * known about the attack. An update may say that a Deployment is complete when the old pods are not gone yet: it was
 * seen to, after a change of replicas and pod template in one update.
 *
 * A rollout that is stuck, paused or waits for somebody does not end, and has not hindered a run until now.
 *
 * @returns whether it had to wait, and what goes on all the same after the time: `Deployment orders: 1 old pod is left`
 */
export async function awaitRollouts(
    cluster: Cluster,
    containers: readonly Discovered[],
    timeoutMs: number,
): Promise<{ waited: boolean; going: string[] }> {
    const workloads = workloadsOf(containers);
    const giveUpAt = Date.now() + timeoutMs;
    for (let waited = false; ; waited = true) {
        const going = (await Promise.all(workloads.map((one) => describeGoing(cluster, one)))).flat();
        if (going.length === 0 || Date.now() > giveUpAt) return { waited, going };
        await pause(pauseMs);
    }
}

/** The Deployments, StatefulSets and DaemonSets that own some containers, each once. */
function workloadsOf(containers: readonly Discovered[]): (Workload & { namespace: string })[] {
    const found = containers.flatMap(({ attributes, namespace }) => ownersOf(attributes, namespace));
    return [...new Map(found.map((one) => [`${one.kind} ${one.name}`, one])).values()];
}

const ownersOf = (attributes: Attributes, namespace: string) =>
    workloadKinds.flatMap((kind) => {
        const name = attributes[attributeOf(kind)];
        return name === undefined ? [] : [{ kind, name, namespace }];
    });

/** Empty for a workload that is gone, or that the account may not read. */
async function describeGoing(cluster: Cluster, workload: Workload & { namespace: string }): Promise<string[]> {
    const found = await unlessForbidden(readWorkload(cluster, workload, workload.namespace));
    const replaced = found && whatIsReplaced(workload.kind, found);
    return replaced === undefined ? [] : [`${workload.kind} ${workload.name}: ${replaced}`];
}
