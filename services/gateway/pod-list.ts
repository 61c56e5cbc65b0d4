import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { isIPv6 } from "node:net";
import { ownApiServer, readApi } from "../../chaos/cluster/in-cluster-api";
import { isReady, type Pod } from "../../chaos/targets/containers";

/** What the gateway reads of a pod. */
export interface ListedPod {
    name: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
    /** Whether Services send requests to it; not while it ends. */
    isReady: boolean;
    /** Where its program answers: its address and its port `http`, if it has both. */
    url?: URL | undefined;
}

/** Time limit of the API server, in milliseconds: a gateway that is cut off must not wait for it. */
const TIMEOUT_MS = 1_000;
const LIFE_MS = 1_000;

type StoredPod = Pod & { metadata: { name: string; annotations?: Record<string, string> } };

function urlOf({ spec, status }: StoredPod): URL | undefined {
    const port = spec?.containers.flatMap(({ ports = [] }) => ports).find(({ name }) => name === "http")?.containerPort;
    const address = status?.podIP;
    if (port === undefined || address === undefined) return undefined;
    return new URL(`http://${isIPv6(address) ? `[${address}]` : address}:${port}`);
}

/**
 * Lists the pods in the gateway's own namespace, at most once a second, however many ask: anybody may.
 *
 * @returns rejects if the API server cannot be asked, which is always the case outside a cluster
 */
export function podLister(server = ownApiServer): () => Promise<ListedPod[]> {
    const agent = new Agent({ keepAlive: true });
    let [listed, listedAt]: [Promise<ListedPod[]> | undefined, number] = [undefined, 0];
    return () => {
        if (listed !== undefined && performance.now() - listedAt < LIFE_MS) return listed;
        listedAt = performance.now();
        return (listed = listPods(agent, server));
    };
}

async function listPods(agent: Agent, server: typeof ownApiServer): Promise<ListedPod[]> {
    const namespace = readFileSync(`${server.account}/namespace`, "utf8");
    const call = { agent, signal: AbortSignal.timeout(TIMEOUT_MS) };
    const { items } = await readApi<{ items: StoredPod[] }>(`/api/v1/namespaces/${namespace}/pods`, call, server);
    return items.map((pod) => {
        const { name, labels = {}, annotations = {}, deletionTimestamp } = pod.metadata;
        return {
            name,
            labels,
            annotations,
            isReady: deletionTimestamp === undefined && isReady(pod),
            url: urlOf(pod),
        };
    });
}
