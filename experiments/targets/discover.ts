import { setTimeout as sleep } from "node:timers/promises";
import {
    attackable,
    containersOf,
    deploymentsByReplicaSet,
    type Discovered,
    replicaSetOf,
} from "../../shared/containers";
import type { Cluster } from "../../shared/kubernetes";
import { labels } from "../../shared/labels";
import { type Agents, askAgents, findAgents, WrongKeyError } from "./agents";

/**
 * The containers of an area that run and may be attacked, with their attributes: from the shop's agents where there
 * are some, else from the API server. Both describe a container by the same code, and never list one of a namespace
 * that is labelled as protected.
 *
 * @param area `Global`, or one namespace
 * @param shop namespace of the shop whose agents are asked
 */
export async function discover(
    cluster: Cluster,
    area: string,
    clusterName: string,
    shop: string,
): Promise<Discovered[]> {
    const [discovered, spared] = await Promise.all([
        findAgents(cluster, shop).then((agents) =>
            agents ? askOnceReady(cluster, agents) : askApiServer(cluster, clusterName),
        ),
        protectedNamespaces(cluster),
    ]);
    return discovered.filter(({ namespace }) => (area === "Global" || area === namespace) && !spared.has(namespace));
}

const patienceMs = 30_000;
const pauseMs = 250;

/** Agents that the same update made, or rolled, may take a moment. */
async function askOnceReady(cluster: Cluster, agents: Agents): Promise<Discovered[]> {
    const giveUpAt = Date.now() + patienceMs;
    for (;;) {
        try {
            return await askAgents(cluster, agents);
        } catch (error) {
            if (error instanceof WrongKeyError || Date.now() > giveUpAt) throw error;
            await sleep(pauseMs);
        }
    }
}

/** What the agents would say, were there any. */
export async function askApiServer(cluster: Cluster, clusterName: string): Promise<Discovered[]> {
    const [pods, replicaSets] = await Promise.all([
        cluster.core.listPodForAllNamespaces(),
        cluster.apps.listReplicaSetForAllNamespaces(),
    ]);
    const deploymentOf = deploymentsByReplicaSet(replicaSets.items);
    return pods.items
        .filter(attackable)
        .flatMap((pod) => containersOf(pod, deploymentOf.get(replicaSetOf(pod)?.uid ?? ""), clusterName));
}

/** Namespaces that hold an agent, or whatever else somebody labelled so. */
export async function protectedNamespaces(cluster: Cluster): Promise<Set<string>> {
    const { items } = await cluster.core.listNamespace({ labelSelector: `${labels.protected}=true` });
    return new Set(items.map(({ metadata }) => metadata!.name!));
}
