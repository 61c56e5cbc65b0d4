import * as z from "zod";
import { ApiError, type Cluster, messageOf, statusOf } from "../../../cluster/client";
import { resources, rightsIn } from "../../../cluster/resources";
import { describeMilliseconds } from "../../../values/duration";
import { parseJson } from "../../../values/json";
import { kubectlFor } from "../../../values/kubectl";
import { few, quoted } from "../../../values/quoted";
import { ReasonError } from "../../../values/reasons";
import { nodeConditions, withoutNodeConditions } from "../../../targets/attributes";
import { onePerPod } from "../../../targets/pods";
import type { AttackKind, RunAttack } from "../attack-kind";
import { evictionOf, evictionRefusal, type Status } from "./eviction";
import type { Killing } from "./victims";

/** Deletes or evicts pods repeatedly, as `kubectl delete pod` or `kubectl drain` do; their controllers replace them. */
export interface KillAttack {
    kind: "kill";
    /** Time between kills, at least 1000 ms; longer while the radius is used up. @default 10_000 */
    intervalMs?: number;
    /** How pods are removed. A PodDisruptionBudget may refuse an `eviction`, and no `deletion`. @default "deletion" */
    by?: "deletion" | "eviction";
}

const defaultIntervalMs = 10_000;
const effect = "killed repeatedly";

/**
 * The deadline Job deletes the pods, so the attack goes on, and ends, even if the machine that started it is gone. Pods
 * are killed only while the namespace's lease names the run.
 */
export const kill: AttackKind<KillAttack> = {
    schema: z.strictObject({
        kind: z.literal("kill"),
        intervalMs: z.int().min(1_000).optional(),
        by: z.enum(["deletion", "eviction"]).optional(),
    }),
    examples: [{ kind: "kill" }, { kind: "kill", by: "eviction" }],
    describe: ({ intervalMs = defaultIntervalMs, by }) =>
        `${by === "eviction" ? "evicted" : "deleted"}, then one replacement every ${describeMilliseconds(intervalMs)}`,
    effect,
    isBudgeted: ({ by }) => by === "eviction",
    onlyReady: true,
    proof: () => ({ deleted: true }),
    // This ConfigMap is a request to the Job.
    object: resources.configMap,
    leavesTraffic: true,
    tryOut: async (one, cluster) => {
        if (one.attack.by === "eviction") await tryEvictions(one, cluster);
    },
    forJob: ({ intervalMs = defaultIntervalMs, by }, { target, radius, clusterName }): Killing => ({
        intervalMs,
        by,
        effect,
        radius,
        clusterName,
        // The Job may not read nodes: once the targets are chosen, the request names theirs.
        target: withoutNodeConditions(target),
        isOnNodes: nodeConditions(target).length > 0 || undefined,
    }),
    rightsInJob: (_, { by }) => [
        ...(by === "eviction"
            ? rightsIn()("create", { resource: "pods/eviction" }).to("evict the pods that a `kill` by eviction hits")
            : rightsIn()("delete", resources.pod).to("delete the pods that a `kill` hits")),
        // Of a pod's owners, only its ReplicaSet names the Deployment.
        ...rightsIn()("list", resources.replicaSet).to("know which Deployment a pod belongs to, for a `kill`"),
    ],
};

/**
 * Tries by dry runs whether the API server would evict at least one of the targets. Refusals that dry runs do not show
 * come under attack.
 *
 * @throws ReasonError in the API server's words if it would evict none
 */
async function tryEvictions({ chosen, namespace }: RunAttack<unknown>, cluster: Cluster): Promise<void> {
    const refusals: { pod: string; why: string }[] = [];
    for (const { pod, uid } of onePerPod(chosen.targets)) {
        const body = evictionOf({ namespace, name: pod }, uid);
        const why = await cluster
            .create({ resource: resources.pod, namespace, name: pod, part: "eviction" }, body, { dryRun: "All" })
            .then(
                () => undefined,
                (error: unknown) => evictionRefusal(statusIn(error)),
            );
        if (why === undefined) return;
        refusals.push({ pod, why });
    }
    const named = few(refusals.map(({ pod }) => pod));
    throw new ReasonError(
        "eviction-refused",
        `the API server would not evict ${named}: ${quoted(refusals[0]!.why)}`,
        `Run more pods than the budget needs, or change it: ${kubectlFor(cluster, namespace)} get ` +
            "poddisruptionbudgets. Or kill by deletion, which no budget stops",
    );
}

function statusIn(error: unknown): Status {
    const status = error instanceof ApiError ? (parseJson(error.body) as Status | undefined) : undefined;
    return { ...(status ?? { message: messageOf(error) }), code: statusOf(error) };
}
