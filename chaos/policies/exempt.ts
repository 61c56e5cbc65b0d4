import type { V1NetworkPolicy } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound, mergePatch, statusOf } from "../cluster/client";
import { exempting, fieldManager, isExempting, nextRestoring } from "./exemption";

const maxTries = 5;

/** Makes policies let go of pods under attack, until they are restored. */
export async function exemptFrom(cluster: Cluster, policies: readonly V1NetworkPolicy[], run: string): Promise<void> {
    const once = (policy: V1NetworkPolicy) => (isExempting(policy) ? undefined : exempting(policy, run));
    for (const policy of policies) await patchUntilDone(cluster, policy, once);
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

/**
 * Patches a policy until there is nothing to change. The API server rejects a patch (409) if somebody has changed the
 * policy in between; then it is read again.
 */
async function patchUntilDone(
    { networking }: Cluster,
    policy: V1NetworkPolicy,
    patchFor: (policy: V1NetworkPolicy) => object | undefined,
): Promise<void> {
    const { name, namespace } = policy.metadata as { name: string; namespace: string };
    let current: V1NetworkPolicy | undefined = policy;
    for (let tries = 1; current !== undefined;) {
        const body = patchFor(current);
        if (body === undefined) return;
        try {
            const patch = { name, namespace, body, fieldManager };
            current = await ignoreNotFound(networking.patchNamespacedNetworkPolicy(patch, mergePatch()));
        } catch (error) {
            if (statusOf(error) !== 409 || tries++ === maxTries) throw error;
            current = await ignoreNotFound(networking.readNamespacedNetworkPolicy({ name, namespace }));
        }
    }
}
