import type { V1NetworkPolicy } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound, mergePatch } from "../cluster/client";
import { againOnConflict } from "../cluster/conflict";
import { fieldManager } from "../cluster/labels";
import { patchUntilDone } from "../cluster/patching";
import { isExempting, nextExempting, nextRestoring } from "./exemption";

/** Makes policies let go of pods under attack, until they are restored. */
export async function exemptFrom(cluster: Cluster, policies: readonly V1NetworkPolicy[], run: string): Promise<void> {
    for (const policy of policies) await change(cluster, policy, (current) => nextExempting(current, run));
}

/**
 * Restores all policies of a namespace that runs have changed.
 *
 * @returns their number
 */
export async function restorePolicies(cluster: Cluster, namespace: string): Promise<number> {
    const { items } = await cluster.networking.listNamespacedNetworkPolicy({ namespace });
    const changed = items.filter(isExempting);
    await Promise.all(changed.map((policy) => change(cluster, policy, nextRestoring)));
    return changed.length;
}

/** Reads a policy only after a conflict. */
function change(
    { networking }: Cluster,
    listed: V1NetworkPolicy,
    next: (policy: V1NetworkPolicy) => object | undefined,
): Promise<V1NetworkPolicy | undefined> {
    const { name, namespace } = listed.metadata as { name: string; namespace: string };
    const patch = (body: object) =>
        ignoreNotFound(networking.patchNamespacedNetworkPolicy({ name, namespace, body, fieldManager }, mergePatch()));
    let known: V1NetworkPolicy | undefined = listed;
    return againOnConflict(async () => {
        const policy = known ?? (await ignoreNotFound(networking.readNamespacedNetworkPolicy({ name, namespace })));
        known = undefined;
        return patchUntilDone(policy, next, patch);
    });
}
