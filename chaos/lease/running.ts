/** Finds the experiments that run now, for the commands of `cli/`. */
import type { V1Lease, V1Pod } from "../values/kubernetes-types";
import type { Cluster } from "../cluster/client";
import { experimentOf, labels, targetLabelOf } from "../cluster/labels";
import { resources } from "../cluster/resources";
import { allLeases, inAllOr } from "./lease";
import { describeHolder, earlyEndOf, experimentIn, leaseEndsAt } from "./lease-record";

export interface RunningExperiment {
    namespace: string;
    experiment: string;
    /** The namespace's lease. Undefined if nobody holds it: then the targets are left from a run. */
    lease?: {
        /** Who runs it, in words: `stack local (its application is in demo)`. */
        holder: string;
        /** When it ends, in milliseconds since the epoch. */
        endsAt: number;
        /** How long after it was read, by the API server's clock: this machine's may differ. Negative if it is over. */
        endsInMs: number;
    };
    /** The pods that are labeled as targets. Empty before the attack and after it. */
    targets: { pod: string; attack: string }[];
}

/** The experiments that were found, and whether all namespaces could be looked at. */
export interface RunningExperiments {
    running: RunningExperiment[];
    everywhere: boolean;
}

/**
 * Who attacks what, as leases and target labels say: in all namespaces, or only in one's own if the account may not
 * list the others'. A lease without targets that is over is left out: nothing is attacked, and anybody may take it.
 */
export async function runningExperiments(cluster: Cluster, own: string): Promise<RunningExperiments> {
    const [leases, pods] = await Promise.all([
        allLeases(cluster, own),
        inAllOr(
            async (namespace) => ({
                items: await cluster.all(resources.pod, { namespace, labelSelector: labels.target }),
            }),
            own,
        ),
    ]);
    const namespaces = new Set([...leases.items, ...pods.items].map(({ metadata }) => metadata!.namespace!));
    const isIn = (namespace: string) => (object: V1Lease | V1Pod) => object.metadata!.namespace === namespace;
    const running = [...namespaces].sort().map((namespace) => ({
        namespace,
        ...inNamespace(leases.items.find(isIn(namespace)), leases.now, pods.items.filter(isIn(namespace))),
    }));
    return {
        running: running.filter(({ lease, targets }) => targets.length > 0 || (lease?.endsInMs ?? 0) > 0),
        everywhere: leases.everywhere && pods.everywhere,
    };
}

function inNamespace(
    found: V1Lease | undefined,
    now: number,
    pods: readonly V1Pod[],
): Omit<RunningExperiment, "namespace"> {
    // One that was ended keeps nobody from the namespace.
    const lease = found && earlyEndOf(found) === undefined ? found : undefined;
    const endsAt = lease === undefined ? 0 : leaseEndsAt(lease);
    const targets = pods.map((pod) => ({ pod: pod.metadata!.name!, label: targetLabelOf(pod)! }));
    return {
        experiment: (lease && experimentIn(lease)) ?? experimentOf(targets[0]?.label ?? "unknown."),
        lease: lease && { holder: describeHolder(lease), endsAt, endsInMs: endsAt - now },
        targets: targets.map(({ pod, label }) => ({ pod, attack: label.slice(experimentOf(label).length + 1) })),
    };
}
