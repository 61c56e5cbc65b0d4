import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, statusOf } from "../cluster/client";
import { isProtected, labels } from "../cluster/labels";
import type { AttributeExpression } from "./attributes";
import { type AgentReference, type Agents, askAgents, findAgents, RefusedError } from "./agents";
import {
    attackable,
    containersOfAll,
    type Discovered,
    isRunning,
    type Pod,
    type ReplicaSet,
    whySpared,
} from "./containers";
import { locateTarget } from "./locate";
import { nodesFor, onNodes } from "./nodes";
import { otherResources, type Resource, resources } from "../cluster/resources";

export interface DiscoveryScope {
    /** Where targets are looked for: `Global`, or one namespace. */
    area: string;
    clusterName: string;
    /** The agent that is asked. Absent if the stack has none: then the API server is asked. */
    agent?: AgentReference;
    /** The attacks for which containers are looked for; each target and its peers name a namespace. @default any */
    attacks?: readonly { target: AttributeExpression; attack: WithPeers }[];
}

interface WithPeers {
    kind: string;
    /** Pods, by their attributes; or addresses. */
    peers?: unknown;
}

type Aims = Pick<DiscoveryScope, "attacks">;

/** The pods that an attack names besides its targets. Undefined if it names none. */
export const peersOf = ({ peers }: WithPeers): AttributeExpression | undefined =>
    typeof peers === "string" ? peers : undefined;

/** What attacks say of their targets and peers. */
export const expressionsOf = ({ attacks = [] }: Aims): AttributeExpression[] =>
    attacks.flatMap(({ target, attack }) => [target, peersOf(attack) ?? []].flat());

/**
 * The namespaces that attacks name. Undefined if an attack names none, or no attacks are given: then all namespaces are
 * read.
 */
export function namespacesNamed(aims: Aims): string[] | undefined {
    const expressions = aims.attacks && expressionsOf(aims);
    const namespaces = expressions?.map((expression) => locateTarget(expression, "Global", "").namespace);
    return namespaces?.includes("") ? undefined : namespaces && [...new Set(namespaces)];
}

const timeoutMs = 30_000;
const pauseMs = 250;

/**
 * The running containers of an area that may be attacked: from the stack's own agent if it has one, else from the API
 * server. Namespaces that are labeled as protected are left out.
 *
 * @param asked the nodes, if attacks ask for what their labels say
 */
export async function discover(
    cluster: Cluster,
    scope: DiscoveryScope,
    asked = nodesFor(cluster, expressionsOf(scope)),
): Promise<Discovered[]> {
    const { area, clusterName, agent } = scope;
    const [agents, nodes] = await Promise.all([agent && findAgents(cluster, agent), asked]);
    // Only these: a person may have rights in one namespace and nowhere else.
    const namespaces = agents ? undefined : namespacesNamed(scope);
    const [discovered, spared] = await Promise.all([
        agents ? askOnceReady(cluster, agents) : containersByApiServer(cluster, clusterName, namespaces),
        protectedNamespaces(cluster, namespaces),
    ]);
    const open = discovered.filter(({ namespace: at }) => (area === "Global" || area === at) && !spared.has(at));
    return onNodes(open, nodes);
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

/**
 * The running containers that `discover` leaves out, as the API server knows them. If there is nothing to attack, the
 * reason counts them. Empty if the account may not list them.
 */
export async function discoverSpared(cluster: Cluster, scope: DiscoveryScope): Promise<Discovered[]> {
    const namespaces = namespacesNamed(scope);
    const looking = Promise.all([
        podsIn(cluster, namespaces),
        protectedNamespaces(cluster, namespaces),
        nodesFor(cluster, expressionsOf(scope)),
    ]);
    const found = await looking.catch(() => undefined);
    if (found === undefined) return [];
    const [[pods, replicaSets], closed, nodes] = found;
    const inClosed = `in a namespace labeled ${labels.protected}=true`;
    const why = (pod: Pod) => whySpared(pod) ?? (closed.has(pod.metadata!.namespace!) ? inClosed : undefined);
    const running = pods.filter(isRunning);
    const reasons = new Map(running.map((pod) => [pod.metadata!.uid!, why(pod)]));
    const spared = containersOfAll(running, replicaSets, scope.clusterName).flatMap((one) => {
        const reason = reasons.get(one.uid);
        return reason === undefined ? [] : [{ ...one, spared: reason }];
    });
    return onNodes(spared, nodes);
}

/** The containers as agents would list them. @param namespaces @default all */
export async function containersByApiServer(
    cluster: Cluster,
    clusterName: string,
    namespaces?: readonly string[],
): Promise<Discovered[]> {
    const [pods, replicaSets] = await podsIn(cluster, namespaces);
    return containersOfAll(pods.filter(attackable), replicaSets, clusterName);
}

function podsIn(cluster: Cluster, namespaces?: readonly string[]): Promise<[Pod[], ReplicaSet[]]> {
    const inEach = async <R extends Resource>(resource: R) =>
        (
            await Promise.all((namespaces ?? [undefined]).map((namespace) => cluster.all(resource, { namespace })))
        ).flat();
    return Promise.all([inEach(resources.pod), inEach(resources.replicaSet)]);
}

/**
 * Namespaces labeled as protected: those of agents, and any that a user has labeled.
 *
 * @throws ApiError with code 404 if one of these does not exist
 */
export async function protectedNamespaces(cluster: Cluster, among?: readonly string[]): Promise<Set<string>> {
    const found = among
        ? await Promise.all(among.map((name) => cluster.read({ resource: otherResources.namespace, name })))
        : await cluster.all(otherResources.namespace);
    return new Set(found.flatMap(({ metadata }) => (isProtected(metadata!.labels) ? [metadata!.name!] : [])));
}
