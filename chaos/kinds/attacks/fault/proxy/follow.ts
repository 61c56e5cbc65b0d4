import { setTimeout as sleep } from "node:timers/promises";
import { ApiError, type ApiServer, ownApiServer, readApi, watchApi } from "../../../../cluster/in-cluster-api";
import { log } from "./counts";
import type { Pods, Slice } from "./slices";

const retryMs = 1_000;
/** A lost connection to the API server shows only at the next watch, since a watch is silent while no pod changes. */
const watchSeconds = 30;
const silenceMs = 40_000;

type SliceList = { metadata: { resourceVersion: string }; items: Slice[] };
type WatchEvent =
    | { type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK"; object: Slice }
    | { type: "ERROR"; object: { code?: number; message?: string } };

/**
 * Lists and watches the EndpointSlices of a Service. Until the API server answers again, the last known pods stay.
 *
 * @param signal @default it goes on for good
 * @param refused called whenever this proxy may not list them
 */
export async function followPods(
    pods: Pods,
    namespace: string,
    service: string,
    server: ApiServer = ownApiServer,
    signal?: AbortSignal,
    refused?: () => void,
): Promise<void> {
    const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`);
    const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=${selector}`;
    while (!signal?.aborted) {
        try {
            const { metadata, items } = await readApi<SliceList>(path, { signal }, server);
            const slices = new Map(items.map((slice) => [slice.metadata.name, slice]));
            pods.update(items);
            let version = metadata.resourceVersion;
            const onLine = (line: string) => {
                version = apply(JSON.parse(line) as WatchEvent, slices) ?? version;
                pods.update([...slices.values()]);
            };
            // After a regular end, the next watch continues at the same version.
            for (;;) await watchApi(`${path}&${watchQuery(version)}`, onLine, { silenceMs, signal }, server);
        } catch (error) {
            if (signal?.aborted) return;
            if (error instanceof ApiError && error.code === 403) refused?.();
            // Status 410 is usual: the API server no longer has the changes since that version.
            log(`listing the pods again: ${(error as Error).message}`);
        }
        await sleep(retryMs);
    }
}

const watchQuery = (version: string) =>
    `watch=true&allowWatchBookmarks=true&timeoutSeconds=${watchSeconds}&resourceVersion=${encodeURIComponent(version)}`;

function apply({ type, object }: WatchEvent, slices: Map<string, Slice>): string | undefined {
    if (type === "ERROR") throw new Error(`the watch has ended: ${object.code} ${object.message ?? ""}`);
    const { name, resourceVersion } = object.metadata;
    if (type === "DELETED") slices.delete(name);
    else if (type !== "BOOKMARK") slices.set(name, object);
    return resourceVersion;
}
