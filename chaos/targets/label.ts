import { type Cluster, mergePatch } from "../cluster/client";
import { inTurns } from "../in-turns";
import { onePerPod } from "./besides";
import type { Target } from "./containers";

/** Calls to the API server at a time. */
const maxCalls = 16;

/**
 * Labels pods as targets: attacks select the labels. Each patch carries the pod's uid, so the API server rejects it
 * (409) if another pod has taken the name.
 *
 * @param targets containers; two may be in one pod
 */
export async function labelPods(
    cluster: Cluster,
    targets: readonly Pick<Target, "namespace" | "pod" | "uid">[],
    metadataOf: (uid: string) => { labels: Record<string, string>; annotations?: Record<string, string> },
): Promise<void> {
    await inTurns(onePerPod(targets), maxCalls, ({ namespace, pod: name, uid }) => {
        const body = { metadata: { uid, ...metadataOf(uid) } };
        return cluster.core.patchNamespacedPod({ name, namespace, body }, mergePatch());
    });
}
