import type { V1NetworkPolicy } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound, mergePatch } from "../cluster/client";
import { againOnConflict } from "../cluster/conflict";
import { fieldManager } from "../cluster/labels";
import { isExempting, nextExempting, nextRestoring } from "./exemption";

/** Makes policies let go of pods under attack, until they are restored. */
export async function exemptFrom(cluster: Cluster, policies: readonly V1NetworkPolicy[], run: string): Promise<void> {
    for (const policy of policies) await patchUntilDone(cluster, policy, (current) => nextExempting(current, run));
}

/**
 * Restores all policies of a namespace that runs have changed.
 *
 * @returns their number
 */
export async function restorePolicies(cluster: Cluster, namespace: string): Promise<number> {
    const { items } = await cluster.networking.listNamespacedNetworkPolicy({ namespace });
    const changed = items.filter(isExempting);
    await Promise.all(changed.map((policy) => patchUntilDone(cluster, policy, nextRestoring)));
    return changed.length;
}

/** Patches a policy until there is nothing to change. Reads it only after a conflict. */
function patchUntilDone(
    { networking }: Cluster,
    listed: V1NetworkPolicy,
    patchFor: (policy: V1NetworkPolicy) => object | undefined,
): Promise<void> {
    const { name, namespace } = listed.metadata as { name: string; namespace: string };
    let known: V1NetworkPolicy | undefined = listed;
    return againOnConflict(async () => {
        let policy = known ?? (await ignoreNotFound(networking.readNamespacedNetworkPolicy({ name, namespace })));
        known = undefined;
        for (let body = policy && patchFor(policy); body !== undefined; body = policy && patchFor(policy)) {
            const patch = { name, namespace, body, fieldManager };
            policy = await ignoreNotFound(networking.patchNamespacedNetworkPolicy(patch, mergePatch()));
        }
    });
}
