import { setTimeout as sleep } from "node:timers/promises";
import type { Trouble } from "../kind";
import { between } from "../random";
import { signalContainer } from "./processes";

/** Less than the gateway's time limit of 2 s for a backend, in milliseconds. */
const slowMs = { least: 200, most: 800 };

/**
 * Stops the process of toys-bestseller again and again, from the beginning to the end of the run. On a busy machine it
 * may miss its liveness probe. Then the kubelet restarts it, and the shop fails for another reason than the kind's.
 */
export const slowBackend: Trouble = async ({ stack, random, signal }) => {
    const { cluster, namespace } = stack;
    const container = async () => {
        const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: "app=toys-bestseller" });
        return items[0]!.status!.containerStatuses![0]!.containerID!;
    };
    const first = await container();
    let times = 0;
    try {
        while (!signal.aborted) {
            signalContainer(first, "SIGSTOP");
            try {
                times++;
                await sleep(between(random, slowMs.least, slowMs.most));
            } finally {
                signalContainer(first, "SIGCONT");
            }
            await sleep(between(random, slowMs.least, slowMs.most));
        }
    } catch (error) {
        // A container that was restarted has no process.
        if ((await container()) === first) throw error;
    }
    const saw = `stopped its process ${times} times`;
    if ((await container()) === first) return { saw };
    return { saw: `${saw}; the kubelet restarted it`, also: { FAILED: /required: 100%/ } };
};
