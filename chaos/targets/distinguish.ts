import { type Cluster, statusOf } from "../cluster/client";
import { hasEnded } from "../values/kubernetes-rules";
import type { Discovered, Pod, Target } from "./containers";
import { resources } from "../cluster/resources";

/** A label that some pods have, and no other pod of their namespaces with any of these values. */
export interface DistinctiveLabel {
    key: string;
    values: string[];
}

/**
 * By default, Cilium does not compare these labels, since each makes another identity (see its page "Limiting
 * Identity-Relevant Labels"): those of controllers, and those of Kubernetes but `app.kubernetes.io`. Those of
 * experiments, which a killed update may have left, are removed before the attack.
 */
const ignored = new RegExp(
    "^(?!app\\.kubernetes\\.io/).*(kubernetes\\.io|k8s\\.io)|" +
        "^(pod-template-|controller-revision-hash$|etcd_node$|chaos-experiments/)",
);

type Labeled = Pick<Pod, "metadata">;

/**
 * A label by which a network can tell some pods from all others, without a change to the pods. If there are several,
 * the one with the fewest values.
 */
export function distinctiveLabel(uids: ReadonlySet<string>, all: readonly Labeled[]): DistinctiveLabel | undefined {
    const isOne = ({ metadata }: Labeled) => uids.has(metadata!.uid!);
    const [pods, others] = [all.filter(isOne), all.filter((pod) => !isOne(pod))];
    const found = Object.keys(pods[0]?.metadata?.labels ?? {}).flatMap((key) => {
        if (ignored.test(key)) return [];
        const valuesOf = (some: readonly Labeled[]) => new Set(some.map(({ metadata }) => metadata!.labels?.[key]));
        const values = [...valuesOf(pods)];
        const taken = valuesOf(others);
        const tells = values.every((value) => value !== undefined && !taken.has(value));
        return tells ? [{ key, values: (values as string[]).sort() }] : [];
    });
    return found.sort((a, b) => a.values.length - b.values.length || (a.key < b.key ? -1 : 1))[0];
}

/**
 * A label that tells peers from all other pods of their namespaces, also from those that no experiment may attack. A
 * user who may not list these pods gets one that tells them from those that were discovered.
 */
export async function labelOfPeers(
    cluster: Cluster,
    peers: readonly Target[],
    discovered: readonly Discovered[],
): Promise<DistinctiveLabel | undefined> {
    const namespaces = [...new Set(peers.map(({ namespace }) => namespace))];
    const lists = await Promise.all(
        namespaces.map((namespace) =>
            cluster.all(resources.pod, { namespace }).catch((error: unknown): Pod[] => {
                if (statusOf(error) !== 403) throw error;
                return discovered.filter((one) => one.namespace === namespace).map(podOf);
            }),
        ),
    );
    const all = lists.flatMap((pods: Pod[]) => pods.filter((pod) => !hasEnded(pod)));
    return distinctiveLabel(new Set(peers.map(({ uid }) => uid)), all);
}

const labelPrefix = "k8s.label.";

function podOf({ uid, attributes }: Discovered): Pod {
    const labels = Object.entries(attributes).flatMap(([key, value]) =>
        key.startsWith(labelPrefix) ? [[key.slice(labelPrefix.length), value]] : [],
    );
    return { metadata: { uid, labels: Object.fromEntries(labels) as Record<string, string> } };
}
