import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, statusOf } from "../cluster/client";
import { isProtected } from "../cluster/labels";
import { type AgentReference, type Agents, askAgents, findAgents, RefusedError } from "./agents";
import { attackable, containersOfAll, type Discovered } from "./containers";

export interface DiscoveryScope {
    /** Where targets are looked for: `Global`, or one namespace. */
    area: string;
    clusterName: string;
    /** The agent that is asked. Absent if the stack has none: then the API server is asked. */
    agent?: AgentReference;
}

const timeoutMs = 30_000;
const pauseMs = 250;

/**
 * The running containers of an area that may be attacked: from the stack's own agent if it has one, else from the API
 * server. Namespaces that are labeled as protected are left out.
 */
export async function discover(cluster: Cluster, scope: DiscoveryScope): Promise<Discovered[]> {
    const { area, clusterName, agent } = scope;
    const ask = async () => {
        const agents = agent && (await findAgents(cluster, agent));
        return agents ? askOnceReady(cluster, agents) : askApiServer(cluster, clusterName);
    };
    const [discovered, spared] = await Promise.all([ask(), protectedNamespaces(cluster)]);
    return discovered.filter(({ namespace }) => (area === "Global" || area === namespace) && !spared.has(namespace));
}

/** Agents that the same update has created or rolled may need a moment. */
async function askOnceReady(cluster: Cluster, agents: Agents): Promise<Discovered[]> {
    const giveUpAt = Date.now() + timeoutMs;
    for (;;) {
        try {
            return await askAgents(cluster, agents);
        } catch (error) {
            const refused = error instanceof RefusedError || [401, 403].includes(statusOf(error) ?? 0);
            if (refused || Date.now() > giveUpAt) throw error;
            await sleep(pauseMs);
        }
    }
}

/** What agents would say. */
export async function askApiServer(cluster: Cluster, clusterName: string): Promise<Discovered[]> {
    const [pods, replicaSets] = await Promise.all([
        cluster.core.listPodForAllNamespaces(),
        cluster.apps.listReplicaSetForAllNamespaces(),
    ]);
    return containersOfAll(pods.items.filter(attackable), replicaSets.items, clusterName);
}

/** Namespaces labeled as protected: those of agents, and any that a user has labeled. */
export async function protectedNamespaces(cluster: Cluster): Promise<Set<string>> {
    const { items } = await cluster.core.listNamespace();
    return new Set(items.flatMap(({ metadata }) => (isProtected(metadata!.labels) ? [metadata!.name!] : [])));
}
