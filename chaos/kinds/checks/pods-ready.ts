import type { V1Pod, V1ReplicaSet } from "../../values/kubernetes-types";
import * as z from "zod";
import { resources, rightsIn } from "../../cluster/resources";
import type { AttributeExpression } from "../../targets/attributes";
import { isReady, podsMatching } from "../../targets/containers";
import { expression, locateTarget } from "../../targets/locate";
import { type Nodes, recentNodesFor, rightsToReadNodes } from "../../targets/nodes";
import { answerOf } from "./answer";
import { requireNamespace } from "./references";
import { type CheckContext, type CheckKind, type CheckSettings, checkSettingsSchema } from "./check-kind";

/** Counts the ready pods, by their status in the API server. */
export interface PodsReadyCheck extends CheckSettings {
    kind: "podsReady";
    /** The pods' containers, in the experiment's namespace unless it names another. */
    of: AttributeExpression;
    /** Required number of ready pods, 1 to 1000. @default 1 */
    atLeast?: number;
}

export const podsReady: CheckKind<PodsReadyCheck> = {
    examples: [{ kind: "podsReady", of: "k8s.deployment=f" }],
    schema: z.strictObject({
        kind: z.literal("podsReady"),
        of: expression,
        atLeast: z.int().min(1).max(1_000).optional(),
        ...checkSettingsSchema,
    }),
    name: ({ of }) => `pods of ${of}`,
    describeSuccess: ({ of, atLeast = 1 }) => `checks found ${atLeast} or more ready pods of ${of}`,
    rights({ of }, { defaultNamespace }) {
        const { namespace } = locateTarget(of, "Global", defaultNamespace);
        const { pod, replicaSet } = resources;
        const toCount = rightsIn(namespace)("list", pod, replicaSet).to(
            "count the ready pods, for the check podsReady",
        );
        return [...toCount, ...rightsToReadNodes([of])];
    },
    probe: ({ of, atLeast = 1 }, context, timeoutMs) =>
        answerOf(
            async () => {
                const ready = await countReady(of, context);
                return { problem: ready >= atLeast ? undefined : `${ready} ready (required: at least ${atLeast})` };
            },
            timeoutMs,
            "unseen",
        ),
};

async function countReady(of: AttributeExpression, context: CheckContext): Promise<number> {
    const { cluster, defaultNamespace, clusterName } = context;
    const { target, namespace } = locateTarget(of, "Global", defaultNamespace);
    const [pods, replicaSets] = await Promise.all([
        cluster.all(resources.pod, { namespace }),
        cluster.all(resources.replicaSet, { namespace }),
    ]);
    const named = pods.flatMap(({ spec }) => spec?.nodeName ?? []);
    const nodes = await recentNodesFor(cluster, [target], named);
    if (pods.length === 0) await requireNamespace(cluster, namespace);
    return readyAmong(pods, replicaSets, target, clusterName, nodes);
}

/** How many of some pods are ready and match an expression. */
function readyAmong(
    pods: readonly V1Pod[],
    replicaSets: readonly V1ReplicaSet[],
    expression: AttributeExpression,
    clusterName: string,
    nodes?: Nodes,
): number {
    const ready = pods.filter((pod) => isReady(pod) && pod.metadata!.deletionTimestamp === undefined);
    return podsMatching(expression, ready, replicaSets, clusterName, nodes).length;
}
