import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { settings } from "../../components/configuration/settings";
import { restrictedContainer, restrictedPod, users } from "../../components/program/podSecurity";
import { type Agents, askAgents, findAgents } from "../../experiments/targets/agents";
import { attackable } from "../../shared/containers";
import type { Cluster } from "../../shared/kubernetes";
import { describeSamples, type Figure } from "../figure";
import { namespaces, type Session } from "../session";
import { secondsSince } from "../time";

const rounds = 5;
const pauseMs = 20;
const patienceSeconds = 60;

export function agentDiscovery(session: Session): Figure {
    return {
        name: "agent-discovery",
        meaning: "the longest time from the API server's saying that a new pod runs to the agent's listing it",
        bar: 1,
        unit: "s",
        async measure() {
            session.say("putting a shop with an agent up");
            const stack = await session.newShopStack(namespaces.agent);
            try {
                await stack.setSecret("agent.key", randomBytes(32).toString("hex"));
                await stack.set({ "agent.enabled": "true" });
                await stack.up();
                const agents = await findAgents(session.cluster, namespaces.agent);
                const samples: number[] = [];
                for (let round = 1; round <= rounds; round++)
                    samples.push(await measureRound(session.cluster, agents!, `new-${round}`));
                return { value: Math.max(...samples), made: describeSamples(samples), samples: { listed: samples } };
            } finally {
                // Some of an agent is in no namespace.
                await stack.destroy();
            }
        },
    };
}

/** Makes a pod, and looks at the API server and at the agent at the same time. */
async function measureRound(cluster: Cluster, agents: Agents, name: string): Promise<number> {
    const begun = performance.now();
    await cluster.core.createNamespacedPod({ namespace: namespaces.agent, body: idlePod(name) });
    const [runs, listed] = await Promise.all([
        until(`${name} runs`, begun, async () =>
            attackable(await cluster.core.readNamespacedPod({ name, namespace: namespaces.agent })),
        ),
        until(`the agent lists ${name}`, begun, async () =>
            (await askAgents(cluster, agents)).some(({ pod }) => pod === name),
        ),
    ]);
    return Math.max(0, listed - runs);
}

/** The seconds from `begun` until something holds. */
async function until(what: string, begun: number, holds: () => Promise<boolean>): Promise<number> {
    while (!(await holds())) {
        if (secondsSince(begun) > patienceSeconds) throw new Error(`after ${patienceSeconds} s still not so: ${what}`);
        await sleep(pauseMs);
    }
    return secondsSince(begun);
}

function idlePod(name: string) {
    return {
        metadata: { name },
        spec: {
            securityContext: restrictedPod(users.node),
            terminationGracePeriodSeconds: 0,
            containers: [
                {
                    name: "idle",
                    image: settings["images.node"].default,
                    command: ["node", "--eval", "setInterval(() => {}, 1000)"],
                    securityContext: restrictedContainer,
                },
            ],
        },
    };
}
