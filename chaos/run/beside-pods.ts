import type { V1Pod } from "../values/kubernetes-types";
import { setTimeout as sleep } from "node:timers/promises";
import { besides } from "../kinds/actions/registry";
import { statusOf } from "../cluster/client";
import { labels } from "../cluster/labels";
import { type ObjectReference, resources } from "../cluster/resources";
import type { JobBasis } from "../witness/protocol";
import type { Room, StepContext } from "./contract";
import type { Admitted } from "./other-policies";
import { abortIfRejected } from "./rejected-change";

/** A pod of an earlier try of the step ends within this time, in milliseconds. */
const goneMs = 20_000;
const pauseMs = 500;

/**
 * The pods that a run's actions have beside it, with what only the cluster and the run know.
 *
 * @throws ReasonError if one could not do what it is to do
 */
export async function equippedBesides(
    { plan: { namespace, actions }, cluster }: StepContext,
    { besides: pods = [] }: Room,
    { pass }: Pick<JobBasis, "pass">,
): Promise<V1Pod[]> {
    const equipping = besides(actions).map(async ({ action, beside }, index) => {
        const pod = await beside.equip(action, pods[index]!, { cluster, namespace });
        const { metadata } = pod;
        return { ...pod, metadata: { ...metadata, labels: { ...metadata?.labels, [labels.pass]: pass } } };
    });
    return Promise.all(equipping);
}

/**
 * Makes a pod that goes with the rights of the deadline Job, which gives these up at the run's end. One that an earlier
 * try of the step has made is removed first: it would be in the middle of its work.
 *
 * @throws ReasonError if a quota or somebody else rejects it
 */
export async function createBeside({ cluster, plan: { namespace }, owner }: Admitted, pod: V1Pod): Promise<void> {
    const name = pod.metadata!.name!;
    const object: ObjectReference = { resource: resources.pod, namespace, name };
    const body = { ...pod, metadata: { ...pod.metadata, ownerReferences: [owner] } };
    for (const giveUpAt = performance.now() + goneMs; ; await sleep(pauseMs))
        try {
            await cluster.create({ resource: resources.pod, namespace }, body);
            return;
        } catch (error) {
            if (statusOf(error) !== 409 || performance.now() > giveUpAt)
                abortIfRejected(
                    "no-room",
                    `namespace ${namespace} admits no Pod ${name}`,
                    "Make room or allow it",
                )(error);
            await cluster.delete(object);
        }
}
