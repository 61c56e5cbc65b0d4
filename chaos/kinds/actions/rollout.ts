import * as z from "zod";
import type { Cluster } from "../../cluster/client";
import { annotations } from "../../cluster/labels";
import { dnsSubdomain } from "../../values/kubernetes-rules";
import { nameSchema } from "../../values/texts";
import { type ObjectReference, rightsIn } from "../../cluster/resources";
import { describeMilliseconds } from "../../values/duration";
import { pause } from "../../values/async";
import type { ActionKind } from "./action-kind";
import { belowPartition, rolloutState, whyNoRollout } from "../../cluster/rollout-state";
import { readWorkload, referenceTo, type Workload, type WorkloadKind, workloadTypes } from "../../cluster/workload";
import { requireFound } from "../../cluster/set-field";

/**
 * Restarts a workload as `kubectl rollout restart` does, and waits until its rollout is complete. Exactly one of
 * `deployment`, `statefulset` and `daemonset` names it, in the namespace of the attacks.
 */
export interface RolloutAction {
    kind: "rollout";
    /** Name of a Deployment. Exactly one workload is named. */
    deployment?: string;
    /** Name of a StatefulSet. */
    statefulset?: string;
    /** Name of a DaemonSet. */
    daemonset?: string;
    /** How long the rollout may take, in milliseconds, 1000 to 3 600 000. @default until the checks end */
    timeoutMs?: number;
}

const pauseMs = 250;

const fields = { deployment: "Deployment", statefulset: "StatefulSet", daemonset: "DaemonSet" } as const;
type Field = keyof typeof fields;
const names = Object.keys(fields) as Field[];
const named = (action: RolloutAction) => names.filter((field) => action[field] !== undefined);

const name = (kind: WorkloadKind) => nameSchema(`a ${kind} name`, dnsSubdomain).optional();

export const rollout: ActionKind<RolloutAction> = {
    schema: z
        .strictObject({
            kind: z.literal("rollout"),
            deployment: name("Deployment"),
            statefulset: name("StatefulSet"),
            daemonset: name("DaemonSet"),
            timeoutMs: z.int().min(1_000).max(3_600_000).optional(),
        })
        .refine((action) => named(action).length === 1, {
            error: ({ input }) => {
                const given = named(input as RolloutAction);
                return `names ${given.join(" and ") || "nothing to restart"}; allowed: one of ${names.join(", ")}`;
            },
        }),
    examples: [{ kind: "rollout", deployment: "NAME" }],
    describe: (action) => `restart ${workloadOf(action).name}`,
    rights: (action, namespace) => {
        const { kind, name } = workloadOf(action);
        const here = rightsIn(namespace);
        return [
            ...here("get patch", workloadTypes[kind], name).to("restart it, and see when its rollout is complete"),
            ...here("list", workloadTypes[kind]).to("find what is to be restarted"),
        ];
    },
    workload: (action) => workloadOf(action),
    keeps: (_, found) => belowPartition(found),
    adds: (_, found) => belowPartition(found) < (found.spec?.replicas ?? 1),
    whyNot: (_, found) => whyNoRollout(found),
    async perform(action, { cluster, namespace, endsAt, signal }) {
        const workload = workloadOf(action);
        const object = referenceTo(workload, namespace);
        const begunAt = Date.now();
        const until = Math.min(endsAt, begunAt + (action.timeoutMs ?? Infinity));
        await restart(cluster, object, new Date(begunAt));
        for (;;) {
            const found = requireFound(await readWorkload(cluster, workload, namespace), object);
            const state = rolloutState(workload.kind, found);
            if (state === "complete") return;
            if ("failed" in state) throw new Error(state.failed);
            signal?.throwIfAborted();
            if (Date.now() + pauseMs > until) {
                const time = describeMilliseconds(Date.now() - begunAt);
                const end = until === endsAt ? ", when the checks ended; make the window longer" : "";
                throw new Error(`the rollout was not complete after ${time}: ${state.missing}${end}`);
            }
            await pause(pauseMs, signal);
        }
    },
};

function workloadOf(action: RolloutAction): Workload {
    const [field] = named(action);
    return { kind: fields[field!], name: action[field!]! };
}

/**
 * Changes an annotation of the pod template, which no apply of the application's has. The field manager is neither
 * Pulumi's nor kubectl's: server-side apply leaves a field alone that only another manager has, so a later `pulumi up`
 * neither conflicts nor removes it, which would be a second rollout.
 */
async function restart(cluster: Cluster, workload: ObjectReference, at: Date): Promise<void> {
    const template = { metadata: { annotations: { [annotations.restarted]: at.toISOString() } } };
    requireFound(await cluster.patch(workload, { spec: { template } }), workload);
}
