import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { callApi, ownApiServer } from "../../chaos/cluster/in-cluster-api";
import { isReady } from "../../chaos/targets/containers";

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

const texts = z._default(z.record(z.string(), z.string()), {});
const podSchema = z.object({
    metadata: z.object({
        name: z.string(),
        labels: texts,
        annotations: texts,
        deletionTimestamp: z.optional(z.string()),
    }),
    status: z.optional(
        z.object({ conditions: z.optional(z.array(z.object({ type: z.string(), status: z.string() }))) }),
    ),
});
const podsSchema = z.object({ items: z.array(podSchema) });

export async function podsLabeled(label: string, signal: AbortSignal, server = ownApiServer): Promise<ListedPod[]> {
    const namespace = readFileSync(`${server.account}/namespace`, "utf8");
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(label)}`;
    const { status, body } = await callApi(path, { signal }, server);
    if (status !== 200) throw new Error(`the API server answered with status ${status}`);
    return podsSchema.parse(JSON.parse(body)).items.map((pod) => {
        const { name, labels, annotations, deletionTimestamp } = pod.metadata;
        return { name, labels, annotations, isReady: deletionTimestamp === undefined && isReady(pod) };
    });
}
