import type { Discovered } from "./containers";

/** A label that some pods have, and no other pod of their namespaces with any of these values. */
export interface DistinctiveLabel {
    key: string;
    values: string[];
}

const prefix = "k8s.label.";

/**
 * By default, Cilium does not compare these labels, since each makes another identity (see its page "Limiting
 * Identity-Relevant Labels"): those of controllers, and those of Kubernetes but `app.kubernetes.io`.
 */
const ignored =
    /^(?!app\.kubernetes\.io\/).*(kubernetes\.io|k8s\.io)|^(pod-template-|controller-revision-hash$|etcd_node$)/;

/**
 * A label by which a network can tell some pods from all others, without a change to the pods. If there are several,
 * the one with the fewest values.
 *
 * @param pods containers of these pods
 * @param discovered all containers, with these
 */
export function distinctiveLabel(
    pods: readonly Discovered[],
    discovered: readonly Discovered[],
): DistinctiveLabel | undefined {
    const uids = new Set(pods.map(({ uid }) => uid));
    const namespaces = new Set(pods.map(({ namespace }) => namespace));
    const others = discovered.filter(({ uid, namespace }) => namespaces.has(namespace) && !uids.has(uid));
    const found = Object.keys(pods[0]?.attributes ?? {}).flatMap((attribute) => {
        const key = attribute.slice(prefix.length);
        if (!attribute.startsWith(prefix) || ignored.test(key)) return [];
        const valuesOf = (some: readonly Discovered[]) => new Set(some.map(({ attributes }) => attributes[attribute]));
        const values = [...valuesOf(pods)];
        const taken = valuesOf(others);
        const tells = values.every((value) => value !== undefined && !taken.has(value));
        return tells ? [{ key, values: (values as string[]).sort() }] : [];
    });
    return found.sort((a, b) => a.values.length - b.values.length || (a.key < b.key ? -1 : 1))[0];
}
