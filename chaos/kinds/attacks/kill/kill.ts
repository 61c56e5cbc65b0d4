import * as z from "zod";
import { resources, rightsIn } from "../../../cluster/resources";
import { describeMilliseconds } from "../../../values/duration";
import { nodeConditions, withoutNodeConditions } from "../../../targets/attributes";
import type { AttackKind } from "../attack-kind";
import { tryEvictions } from "./try-evictions";
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
 * The deadline Job deletes the pods, so the attack goes on and ends even if the machine that started it is gone. At
 * no moment are more matching containers missing, or in pods that are not ready, than the radius allows. Pods are
 * killed only while the namespace's lease names the run.
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
    onlyReady: true,
    proof: () => ({ deleted: true }),
    // A request to the Job.
    object: resources.configMap,
    leavesTraffic: true,
    tryOut: async (one, cluster) => {
        if (one.attack.by === "eviction") await tryEvictions(one, cluster);
    },
    forJob: ({ intervalMs = defaultIntervalMs, by }, { target, ...wanted }): Killing => ({
        intervalMs,
        by,
        effect,
        ...wanted,
        // The Job may read no nodes, and is told which these are once the targets are chosen.
        target: withoutNodeConditions(target),
        isOnNodes: nodeConditions(target).length > 0 || undefined,
    }),
    rightsInJob: (_, { by }) => [
        ...(by === "eviction"
            ? rightsIn()("create", { resource: "pods/eviction" }).to("evict the pods that a `kill` by eviction hits")
            : rightsIn()("delete", resources.pod).to("delete the pods that a `kill` hits")),
        // Only its ReplicaSet says that.
        ...rightsIn()("list", resources.replicaSet).to("know which Deployment a pod belongs to, for a `kill`"),
    ],
};
