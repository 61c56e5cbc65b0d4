import { randomBytes } from "node:crypto";
import { agentName } from "../../components/agent/reference";
import { defaultAgentNamespace } from "../../components/configuration/agent";
import { settings } from "../../components/configuration/settings";
import { restrictedContainer, restrictedPod, users } from "../../chaos/cluster/pod-security";
import { type Agents, askAgents, findAgents } from "../../chaos/targets/agents";
import { attackable } from "../../chaos/targets/containers";
import type { Cluster } from "../../chaos/cluster/client";
import { describeSamples, type Figure } from "../figure";
import { namespaces } from "../session";
import { timed, until } from "../time";

const rounds = 5;
const pauseMs = 20;
const patienceSeconds = 60;

export const agentDiscovery: Figure = {
    name: "agent-discovery",
    meaning: "longest time until the agent lists a new pod, after the API server reports it as running",
    bar: 1,
    unit: "s",
    async measure(session) {
        session.say("installing a shop with an agent");
        const stack = await session.newShopStack(namespaces.agent);
        try {
            await stack.setSecret("agent.key", randomBytes(32).toString("hex"));
            await stack.set({ "agent.enabled": "true" });
            await stack.up();
            const agents = await findAgents(session.cluster, {
                namespace: defaultAgentNamespace(namespaces.agent),
                name: agentName,
            });
            const samples: number[] = [];
            for (let round = 1; round <= rounds; round++)
                samples.push(await measureRound(session.cluster, agents!, `new-${round}`));
            return { value: Math.max(...samples), made: describeSamples(samples), samples: { listed: samples } };
        } finally {
            // Some of the agent's resources are cluster-wide.
            await stack.destroy();
        }
    },
};

/** Creates a pod, and polls the API server and the agent at the same time. */
async function measureRound(cluster: Cluster, agents: Agents, name: string): Promise<number> {
    await cluster.core.createNamespacedPod({ namespace: namespaces.agent, body: idlePod(name) });
    const isRunning = async () =>
        attackable(await cluster.core.readNamespacedPod({ name, namespace: namespaces.agent }));
    const isListed = async () => (await askAgents(cluster, agents)).some(({ pod }) => pod === name);
    const [runs, listed] = await Promise.all([
        timed(() => until(`${name} runs`, patienceSeconds, pauseMs, isRunning)),
        timed(() => until(`the agent lists ${name}`, patienceSeconds, pauseMs, isListed)),
    ]);
    return Math.max(0, listed - runs);
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
