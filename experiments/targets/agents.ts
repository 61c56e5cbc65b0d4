import { setHeaderOptions } from "@kubernetes/client-node";
import { agentKeyEntry, agentKeyHeader, agentLabels, agentOfShop, agentPort, targetsPath } from "../../shared/agent";
import type { Discovered } from "../../shared/containers";
import { type Cluster, orMissing, statusOf } from "../../shared/kubernetes";

/** The builtin agents of one installation: a pod on each node. */
export interface Agents {
    namespace: string;
    /** Name of the Secret with their key. */
    secret: string;
}

const selectorOf = (labels: Record<string, string>) =>
    Object.entries(labels)
        .map(([key, value]) => `${key}=${value}`)
        .join(",");

/** An agent was shown a key that is not its own. */
export class WrongKeyError extends Error {
    constructor(message: string) {
        super(message);
        this.name = "WrongKeyError";
    }
}

/** The builtin agents that were installed with a shop, by the shop's namespace; undefined where there are none. */
export async function findAgents(cluster: Cluster, shop: string): Promise<Agents | undefined> {
    const { items } = await cluster.apps.listDaemonSetForAllNamespaces({
        labelSelector: selectorOf({ ...agentLabels, [agentOfShop]: shop }),
    });
    const found = items.find(({ metadata }) => metadata?.deletionTimestamp === undefined);
    if (!found) return undefined;
    const secret = found.spec!.template.spec!.volumes!.find(({ secret }) => secret !== undefined)!.secret!.secretName!;
    return { namespace: found.metadata!.namespace!, secret };
}

/** The key that agents ask for, from their Secret: whoever may read that, may ask them. Undefined where it is gone. */
export async function keyOf(cluster: Cluster, { namespace, secret }: Agents): Promise<string | undefined> {
    const found = await orMissing(cluster.core.readNamespacedSecret({ name: secret, namespace }));
    const key = found?.data?.[agentKeyEntry];
    return key === undefined ? undefined : Buffer.from(key, "base64").toString("utf8");
}

/**
 * What all agents of an installation discovered. They are asked through the API server, since nothing else of the
 * cluster need be reachable from here.
 *
 * @param key what they are shown @default the one in their Secret
 * @throws Error that says which agent did not answer and why; part of the cluster is never taken for all of it
 */
export async function askAgents(cluster: Cluster, agents: Agents, key?: string): Promise<Discovered[]> {
    const { namespace } = agents;
    const shown = key ?? (await keyOf(cluster, agents));
    if (shown === undefined)
        throw new Error(
            `the Secret ${agents.secret} with the agents' key is not in namespace ${namespace}; run: pulumi up --refresh`,
        );
    const { items } = await cluster.core.listNamespacedPod({ namespace, labelSelector: selectorOf(agentLabels) });
    const running = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    if (running.length === 0)
        throw new Error(
            `no agent runs in namespace ${namespace}; look at: kubectl --namespace ${namespace} get daemonsets,events`,
        );
    return (
        await Promise.all(running.map(({ metadata }) => askAgent(cluster, namespace, metadata!.name!, shown)))
    ).flat();
}

async function askAgent(cluster: Cluster, namespace: string, pod: string, key: string): Promise<Discovered[]> {
    try {
        const request = { name: `${pod}:${agentPort}`, namespace, path: targetsPath.slice(1) };
        const answer: unknown = await cluster.core.connectGetNamespacedPodProxyWithPath(
            request,
            setHeaderOptions(agentKeyHeader, key),
        );
        return ((typeof answer === "string" ? JSON.parse(answer) : answer) as { targets: Discovered[] }).targets;
    } catch (error) {
        if (statusOf(error) === 401) {
            throw new WrongKeyError(
                `agent ${namespace}/${pod} refuses the key that it was shown; allowed: the stack's agent.key, which is used where AGENT_KEY is not set`,
            );
        }
        throw new Error(
            `agent ${namespace}/${pod} does not answer (${statusOf(error) ?? (error as Error).message}); look at: kubectl --namespace ${namespace} describe pod ${pod}`,
        );
    }
}
