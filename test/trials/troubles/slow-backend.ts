import { setTimeout as sleep } from "node:timers/promises";
import type { Trouble } from "../kind";
import { between } from "../random";
import { signalContainer } from "./processes";

/** Less than the gateway's time limit of 2 s for a backend, in milliseconds. */
const slowMs = { least: 200, most: 800 };

/** Stops the process of toys-bestseller again and again, from the beginning to the end of the run. */
export const slowBackend: Trouble = async ({ stack, random, signal }) => {
    const { cluster, namespace } = stack;
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: "app=toys-bestseller" });
    const container = items[0]!.status!.containerStatuses![0]!.containerID!;
    let times = 0;
    while (!signal.aborted) {
        signalContainer(container, "SIGSTOP");
        try {
            times++;
            await sleep(between(random, slowMs.least, slowMs.most));
        } finally {
            signalContainer(container, "SIGCONT");
        }
        await sleep(between(random, slowMs.least, slowMs.most));
    }
    return { saw: `stopped its process ${times} times` };
};
