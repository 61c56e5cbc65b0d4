import type { Cluster } from "../cluster/client";
import { hasEnded } from "../values/kubernetes-rules";
import type { AttributeExpression } from "./attributes";
import { podsMatching } from "./containers";
import { few } from "../values/quoted";
import { resources } from "../cluster/resources";

/**
 * Which pods of the targets' workloads are terminating: a Service that has no ready pods leads to these, so they may
 * answer for targets that are cut off:
 * https://kubernetes.io/docs/tutorials/services/pods-and-endpoint-termination-flow/
 *
 * @returns undefined if there are none, or that is not known
 */
export async function describeTerminating(
    cluster: Cluster,
    { namespace, clusterName }: { namespace: string; clusterName: string },
    targets: readonly AttributeExpression[],
): Promise<string | undefined> {
    if (targets.length === 0) return undefined;
    const lists = Promise.all([
        cluster.all(resources.pod, { namespace }),
        cluster.all(resources.replicaSet, { namespace }),
    ]);
    const [pods, replicaSets] = (await lists.catch(() => undefined)) ?? [];
    const terminating = pods?.filter((pod) => pod.metadata!.deletionTimestamp && !hasEnded(pod)) ?? [];
    const found = targets.flatMap((one) => podsMatching(one, terminating, replicaSets ?? [], clusterName));
    const names = [...new Set(found.map(({ metadata }) => metadata!.name!))];
    if (names.length === 0) return undefined;
    return `pods of the targets' workload that were terminating when the window began may have answered: ${few(names)}`;
}
