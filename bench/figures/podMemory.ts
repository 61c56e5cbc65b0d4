import { setTimeout as sleep } from "node:timers/promises";
import { gatewayUrl } from "../cluster";
import type { Figure } from "../figure";
import { connections, fullLoad } from "../load";
import { memoryOfPods } from "../podMemory";
import { namespaces, type Session } from "../session";

/** Long enough for heaps to settle. */
const loadSeconds = 15;
/** The database may take more: PostgreSQL's own buffers and processes. */
const exempt = "database";

export function podMemory(session: Session): Figure {
    return {
        name: "pod-memory",
        meaning: `the largest resident memory of a service's pod, the database's aside, under ${connections} connections to /products`,
        bar: 100,
        unit: "MB",
        async measure() {
            await session.runningShop();
            const url = await gatewayUrl(session.cluster, namespaces.shop);
            session.say(`asking /products over ${connections} connections for ${loadSeconds} s`);
            const [{ latencies }, pods] = await Promise.all([
                fullLoad(url, loadSeconds),
                sleep((loadSeconds - 1) * 1_000).then(() =>
                    memoryOfPods(session.cluster, session.context, namespaces.shop),
                ),
            ]);
            const largest = pods
                .filter(({ workload }) => workload !== exempt)
                .sort((a, b) => b.megabytes - a.megabytes);
            const lines = largest.map(({ workload, megabytes }) => `${workload} ${megabytes.toFixed(0)}`);
            return {
                value: largest[0]!.megabytes,
                made: `${lines.join(", ")} MB after ${latencies.length} requests`,
                samples: Object.fromEntries(pods.map(({ workload, megabytes }) => [workload, [megabytes]])),
            };
        },
    };
}
