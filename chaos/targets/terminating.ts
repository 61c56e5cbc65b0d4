import type { Cluster } from "../cluster/client";
import { hasEnded } from "../cluster/kubernetes-rules";
import type { AttributeExpression } from "./attributes";
import { podsMatching } from "./containers";
import { locateTarget } from "./locate";

const maxNamed = 3;

/**
 * Which pods of the targets' workloads are terminating: a Service that has no ready pods leads to these, so they may
 * answer for targets that are cut off:
 * https://kubernetes.io/docs/tutorials/services/pods-and-endpoint-termination-flow/
 *
 * @returns undefined if there are none, or the account may not look
 */
export async function describeTerminating(
    { core, apps }: Cluster,
    { attacks, clusterName }: { attacks: readonly { target: AttributeExpression }[]; clusterName: string },
): Promise<string | undefined> {
    const looking = attacks.map(async ({ target }) => {
        const { namespace } = locateTarget(target, "Global", "");
        const [{ items }, replicaSets] = await Promise.all([
            core.listNamespacedPod({ namespace }),
            apps.listNamespacedReplicaSet({ namespace }),
        ]);
        const terminating = items.filter((pod) => pod.metadata!.deletionTimestamp && !hasEnded(pod));
        return podsMatching(target, terminating, replicaSets.items, clusterName).map(({ metadata }) => metadata!.name!);
    });
    const found = await Promise.all(looking).catch(() => []);
    const names = [...new Set(found.flat())];
    if (names.length === 0) return undefined;
    const more = names.length > maxNamed ? ` and ${names.length - maxNamed} more` : "";
    return (
        `pods of the targets' workload that were terminating when the window began may have answered: ` +
        names.slice(0, maxNamed).join(", ") +
        more
    );
}
