import { readFileSync } from "node:fs";
import { ownApiServer, readApi } from "../../chaos/cluster/in-cluster-api";
import { isReady, type Pod } from "../../chaos/targets/containers";

/** What the gateway reads of a pod. */
export interface ListedPod {
    name: string;
    labels: Record<string, string>;
    annotations: Record<string, string>;
    /** Whether Services send requests to it; not while it ends. */
    isReady: boolean;
}

/**
 * The pods in the gateway's own namespace that have a label.
 *
 * @param label the label's key; its value does not matter
 * @param signal ends the call: a gateway that is cut off must not wait for the API server
 * @throws Error if the API server cannot be asked, which is always the case outside a cluster
 */
export type ListPods = (label: string, signal: AbortSignal) => Promise<ListedPod[]>;

type StoredPod = Pod & { metadata: { name: string; annotations?: Record<string, string> } };

export async function podsLabeled(label: string, signal: AbortSignal, server = ownApiServer): Promise<ListedPod[]> {
    const namespace = readFileSync(`${server.account}/namespace`, "utf8");
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(label)}`;
    const { items } = await readApi<{ items: StoredPod[] }>(path, { signal }, server);
    return items.map((pod) => {
        const { name, labels = {}, annotations = {}, deletionTimestamp } = pod.metadata;
        return { name, labels, annotations, isReady: deletionTimestamp === undefined && isReady(pod) };
    });
}
