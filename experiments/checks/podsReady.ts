import type { V1Pod, V1ReplicaSet } from "@kubernetes/client-node";
import type { AttributeExpression } from "../../shared/attributes";
import { containersOf, deploymentsByReplicaSet, isReady, replicaSetOf, select } from "../../shared/containers";
import type { Cluster } from "../../shared/kubernetes";
import { locateTarget } from "../targets/locate";
import { answerOf } from "./answer";
import type { CheckKind, CheckSettings } from "./check";

/** Counts the pods that are ready, by what the API server says of them. */
export interface PodsReadyCheck extends CheckSettings {
    kind: "podsReady";
    /** Attributes of the pods' containers; in the shop's namespace unless they name another. */
    of: AttributeExpression;
    /** How many must be ready. @default 1 */
    atLeast?: number;
}

export const podsReady: CheckKind<PodsReadyCheck> = {
    name: ({ of }) => `pods of ${of}`,
    describeGood: ({ of, atLeast = 1 }) => `looks at the pods of ${of} found at least ${atLeast} ready`,
    async ask({ of, atLeast = 1 }, { cluster, shopNamespace, clusterName }, timeoutMs) {
        let seen = false;
        const answer = await answerOf(async () => {
            const ready = await countReady(cluster, of, shopNamespace, clusterName);
            seen = true;
            return { problem: ready >= atLeast ? undefined : `${ready} ready, and at least ${atLeast} asked for` };
        }, timeoutMs);
        return seen ? answer : { ...answer, unseen: true };
    },
};

async function countReady(
    { core, apps }: Cluster,
    of: AttributeExpression,
    shopNamespace: string,
    clusterName: string,
): Promise<number> {
    const { target, namespace } = locateTarget(of, "Global", shopNamespace);
    const [pods, replicaSets] = await Promise.all([
        core.listNamespacedPod({ namespace }),
        apps.listNamespacedReplicaSet({ namespace }),
    ]);
    return readyAmong(pods.items, replicaSets.items, target, clusterName);
}

/** How many of some pods are ready and described by an expression. */
export function readyAmong(
    pods: readonly V1Pod[],
    replicaSets: readonly V1ReplicaSet[],
    expression: AttributeExpression,
    clusterName: string,
): number {
    const deploymentOf = deploymentsByReplicaSet(replicaSets);
    const serving = pods.filter((pod) => isReady(pod) && pod.metadata!.deletionTimestamp === undefined);
    return serving.filter(
        (pod) =>
            select(containersOf(pod, deploymentOf.get(replicaSetOf(pod)?.uid ?? ""), clusterName), expression).length >
            0,
    ).length;
}
