import { kubectlFor } from "../values/kubectl";
import { type Cluster, messageOf, statusOf } from "../cluster/client";
import { selectorOf } from "../cluster/labels";
import { textOf } from "../cluster/verbs";
import { problemOf } from "../cluster/problem";
import { agentKeyEntry, agentKeyHeader, agentPort, type Discovered, targetsPath } from "./containers";
import { otherResources, pathOf, resources } from "../cluster/resources";

/** A stack's builtin agent: the DaemonSet that the stack has made. Labels alone prove nothing: anybody can set them. */
export interface AgentReference {
    namespace: string;
    name: string;
}

/** The builtin agents of one installation: a pod on each node. */
export interface Agents {
    namespace: string;
    labels: Record<string, string>;
    secret: string;
}

/** An agent, or the API server before it, will not answer this caller, however often it asks. */
export class RefusedError extends Error {
    override readonly name = "RefusedError";
}

/** The agents of a DaemonSet. Undefined if it does not exist, or is being deleted. */
export async function findAgents(cluster: Cluster, { namespace, name }: AgentReference): Promise<Agents | undefined> {
    const found = await cluster.get({ resource: otherResources.daemonSet, name, namespace });
    if (!found || found.metadata?.deletionTimestamp !== undefined) return undefined;
    const { selector, template } = found.spec!;
    const secret = template.spec!.volumes!.find(({ secret }) => secret !== undefined)!.secret!.secretName!;
    return { namespace, labels: selector.matchLabels!, secret };
}

/** The agents' key, from their Secret: read access to the Secret is access to the agents. Undefined if it is gone. */
export async function keyOf(cluster: Cluster, { namespace, secret }: Agents): Promise<string | undefined> {
    const found = await cluster.get({ resource: otherResources.secret, name: secret, namespace });
    const key = found?.data?.[agentKeyEntry];
    return key === undefined ? undefined : Buffer.from(key, "base64").toString("utf8");
}

/**
 * What all agents of an installation discovered. They are asked through the API server's proxy: nothing else of the
 * cluster needs to be reachable.
 *
 * @throws Error that names the agent that did not answer, and why: a part of the cluster never counts as all of it
 */
export async function askAgents(cluster: Cluster, agents: Agents, key?: string): Promise<Discovered[]> {
    const { namespace } = agents;
    const shown = key ?? (await keyOf(cluster, agents));
    if (shown === undefined)
        throw new Error(
            `namespace ${namespace} has no Secret ${agents.secret} with the agents' key; an update of their stack ` +
                "with --refresh creates it again",
        );
    const items = await cluster.all(resources.pod, { namespace, labelSelector: selectorOf(agents.labels) });
    const running = items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    if (running.length === 0)
        throw new Error(
            `no agent runs in namespace ${namespace}; look at: ` +
                `${kubectlFor(cluster, namespace)} get daemonsets,events`,
        );
    const asked = running.map(({ metadata }) => askAgent(cluster, namespace, metadata!.name!, shown));
    return (await Promise.all(asked)).flat();
}

async function askAgent(cluster: Cluster, namespace: string, pod: string, key: string): Promise<Discovered[]> {
    const agent = `agent ${namespace}/${pod}`;
    const look = `look at: ${kubectlFor(cluster, namespace)} describe pod ${pod}`;
    try {
        const name = `${pod}:${agentPort}`;
        const path = pathOf({ resource: resources.pod, namespace, name, part: "proxy" }) + targetsPath;
        const answer = await cluster.ask(path, { headers: { [agentKeyHeader]: key } });
        return targetsIn(JSON.parse(textOf(answer)));
    } catch (error) {
        const status = statusOf(error);
        if (status === 401)
            throw new RefusedError(
                `${agent} rejects the key; allowed: the stack's agent.key, which is the default if AGENT_KEY is not ` +
                    "set",
            );
        if (status === 403) throw new RefusedError(`${agent} cannot be asked: ${problemOf(error)}`);
        if (error instanceof SyntaxError)
            throw new Error(`${agent} answers with something else than a list of containers; ${look}`);
        throw new Error(`${agent} does not answer (${status ?? messageOf(error)}); ${look}`);
    }
}

/** @throws SyntaxError if the answer is not a list of containers */
function targetsIn(answer: unknown): Discovered[] {
    const targets = (answer as { targets?: unknown } | null)?.targets;
    const isContainer = (one: Partial<Discovered> | null) => one?.pod !== undefined && one.attributes !== undefined;
    if (!Array.isArray(targets) || !targets.every(isContainer)) throw new SyntaxError("not a list of containers");
    return targets as Discovered[];
}
