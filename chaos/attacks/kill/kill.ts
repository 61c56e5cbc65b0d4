import * as z from "zod";
import { resources, rightsOn } from "../../cluster/resources";
import { describeMilliseconds } from "../../duration";
import type { AttackKind } from "../kind";

/** Deletes pods repeatedly, as `kubectl delete pod` does; their controllers create replacements. */
export interface KillAttack {
    kind: "kill";
    /** Time between kills, in milliseconds; longer while the radius is used up. @default 10_000 */
    intervalMs?: number;
}

const defaultIntervalMs = 10_000;
const effect = "killed repeatedly";

/**
 * The deadline Job deletes the pods, so the attack goes on and ends even if the machine that started it is gone. At
 * no moment are more matching containers missing, or in pods that are not ready, than the radius allows. Pods are
 * killed only while the namespace's lease names the run.
 */
export const kill: AttackKind<KillAttack> = {
    schema: z.strictObject({ kind: z.literal("kill"), intervalMs: z.int().min(1_000).optional() }),
    examples: [{ kind: "kill" }],
    describe: ({ intervalMs = defaultIntervalMs }) =>
        `deleted, then one replacement every ${describeMilliseconds(intervalMs)}`,
    effect,
    onlyReady: true,
    proof: () => ({ deleted: true }),
    // A request to the Job.
    object: resources.configMap,
    leavesTraffic: true,
    forJob: ({ intervalMs = defaultIntervalMs }, wanted) => ({ intervalMs, effect, ...wanted }),
    rightsInJob: () => [
        rightsOn(resources.pod)(["delete"], "delete the pods that a `kill` hits"),
        // Only its ReplicaSet says that.
        rightsOn(resources.replicaSet)(["list"], "know which Deployment a pod belongs to, for a `kill`"),
    ],
};
