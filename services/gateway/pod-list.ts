import { readFileSync } from "node:fs";
import * as z from "zod/mini";
import { callApi, ownApiServer } from "../../chaos/cluster/in-cluster-api";

const podsSchema = z.object({ items: z.array(z.object({ metadata: z.object({ name: z.string() }) })) });

/**
 * The names of the pods in the gateway's own namespace that have a label.
 *
 * @param label the label's key; its value does not matter
 * @param timeoutMs limit for the whole call: a gateway that is cut off must not wait for the API server
 * @throws Error if the API server cannot be asked, which is always the case outside a cluster
 */
export async function podsLabeled(label: string, timeoutMs: number, server = ownApiServer): Promise<string[]> {
    const namespace = readFileSync(`${server.account}/namespace`, "utf8");
    const path = `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(label)}`;
    const { status, body } = await callApi(path, { signal: AbortSignal.timeout(timeoutMs) }, server);
    if (status !== 200) throw new Error(`the API server answered with status ${status}`);
    return podsSchema.parse(JSON.parse(body)).items.map(({ metadata }) => metadata.name);
}
