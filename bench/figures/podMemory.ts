import { Agent, get } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { addressRoute } from "../cluster";
import type { Figure } from "../figure";
import { memoryOfPods, type PodMemory } from "../podMemory";
import { namespaces, type Session } from "../session";

const connections = 16;
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
            const route = await addressRoute(session.cluster, namespaces.shop);
            if (route?.kind !== "address") throw new Error("the gateway has no address");
            const load = startLoad(route.url);
            session.say(`asking /products over ${connections} connections for ${loadSeconds} s`);
            let pods: PodMemory[];
            try {
                await sleep(loadSeconds * 1_000);
                pods = await memoryOfPods(session.cluster, session.context, namespaces.shop);
            } finally {
                load.stop();
            }
            if (load.good() === 0) throw new Error("/products was not answered once under load");
            const largest = pods.filter(({ workload }) => workload !== exempt).sort((a, b) => b.megabytes - a.megabytes);
            const lines = largest.map(({ workload, megabytes }) => `${workload} ${megabytes.toFixed(0)}`);
            return {
                value: largest[0]!.megabytes,
                made: `${lines.join(", ")} MB after ${load.good()} requests`,
                samples: Object.fromEntries(pods.map(({ workload, megabytes }) => [workload, [megabytes]])),
            };
        },
    };
}

/** Asks again and again over connections that are kept. */
function startLoad(url: string): { stop(): void; good(): number } {
    const agent = new Agent({ keepAlive: true, maxSockets: connections });
    let running = true;
    let good = 0;
    const ask = () =>
        new Promise<void>((resolve) => {
            get(url, { agent }, (response) => {
                if (response.statusCode === 200) good++;
                response.resume().on("close", resolve);
            }).on("error", () => setTimeout(resolve, 50));
        });
    for (let connection = 0; connection < connections; connection++) {
        void (async () => {
            while (running) await ask();
            agent.destroy();
        })();
    }
    return { stop: () => (running = false), good: () => good };
}
