import type { Cluster } from "../cluster/client";
import { resources } from "../cluster/resources";
import { existing } from "../cluster/verbs";
import { inTurns } from "../values/async";
import { few } from "../values/quoted";
import type { Discovered, Target } from "./containers";

/** The running containers of some targets' pods that are no targets, native sidecars and ephemeral ones at the end. */
export function besides(discovered: readonly Discovered[], targets: readonly Target[], { uid }: Target): string[] {
    const inPod = discovered.filter((one) => one.uid === uid);
    const names = [...inPod.map(({ container }) => container), ...(inPod[0]?.helpers ?? [])];
    return names.filter((name) => targets.every((target) => target.uid !== uid || target.container !== name));
}

/**
 * The other containers that an attack on some targets affects, because it affects whole pods: the end of a sentence
 * about the targets. Empty if there are none.
 */
export function describeBesides(discovered: readonly Discovered[], targets: readonly Target[]): string {
    const others = onePerPod(targets).flatMap((one) =>
        besides(discovered, targets, one).map((container) => `${one.pod}/${container}`),
    );
    if (others.length === 0) return "";
    return `; in the same pods, and hit with them: ${few(others)}`;
}

/** One of the containers of each pod: what one can reach, all can. */
export function onePerPod<T extends Pick<Target, "uid">>(containers: readonly T[]): T[] {
    return [...new Map([...containers].reverse().map((one) => [one.uid, one])).values()].reverse();
}

const maxCalls = 16;

/**
 * Labels pods as targets: attacks select the labels. Each patch carries the pod's uid, so the API server rejects it
 * (409) if another pod has taken the name.
 */
export async function labelPods(
    cluster: Cluster,
    targets: readonly Pick<Target, "namespace" | "pod" | "uid">[],
    metadataOf: (uid: string) => { labels: Record<string, string>; annotations?: Record<string, string | null> },
): Promise<void> {
    await inTurns(onePerPod(targets), maxCalls, ({ namespace, pod: name, uid }) => {
        const body = { metadata: { uid, ...metadataOf(uid) } };
        return existing(cluster.patch({ resource: resources.pod, namespace, name }, body), `pods "${name}" not found`);
    });
}
