import { gatewayUrl } from "../cluster";
import type { Figure } from "../figure";
import { connections } from "../load";
import { describePods, loadSeconds, memoryUnderLoad } from "../pod-memory";
import { namespaces } from "../session";

/** The database needs more for PostgreSQL's buffers and processes. */
const exempt = "database";

export const podMemory: Figure = {
    name: "pod-memory",
    meaning: `largest resident memory of a pod, except the database's, at ${connections} connections to /products`,
    bar: 100,
    unit: "MB",
    async measure(session) {
        await session.runningShop();
        const url = await gatewayUrl(session.cluster, namespaces.shop);
        session.say(`requesting /products over ${connections} connections for ${loadSeconds} s`);
        const { load, pods, samples } = await memoryUnderLoad(session, namespaces.shop, url);
        const limited = pods.filter(({ workload }) => workload !== exempt);
        return {
            value: limited[0]!.megabytes,
            made: `${describePods(limited)} MB after ${load.latencies.length} requests`,
            samples,
        };
    },
};
