import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, orMissing } from "../shared/kubernetes";

const lookEveryMs = 25;

/**
 * When a policy went, in milliseconds since the epoch: the last time that it was seen, so that what is measured from
 * here is never too short. Looks until the policy is gone or `signal` ends it.
 *
 * @throws Error where the policy was still there at the end
 */
export async function policyGone(
    { networking }: Cluster,
    namespace: string,
    name: string,
    signal: AbortSignal,
): Promise<number> {
    let seenAt = Date.now();
    while (!signal.aborted) {
        if (!(await orMissing(networking.readNamespacedNetworkPolicy({ namespace, name })))) return seenAt;
        seenAt = Date.now();
        await sleep(lookEveryMs);
    }
    throw new Error(`the policy ${name} was still there when the update had ended`);
}
