import { type Cluster, unlessForbidden } from "../cluster/client";
import { portNumberIn } from "../cluster/kubernetes-rules";
import type { Target } from "./containers";

/**
 * The TCP ports at which the Services of a namespace lead to some of its pods, by their uid: nobody has to declare a
 * port in a pod. What answers before an attack is what proves it.
 *
 * @returns none if the account may not look
 */
export async function servicePorts(
    { core }: Cluster,
    namespace: string,
    targets: readonly Pick<Target, "uid" | "namespace">[],
): Promise<Map<string, number[]>> {
    const wanted = new Set(targets.flatMap((one) => (one.namespace === namespace ? one.uid : [])));
    if (wanted.size === 0) return new Map();
    const [services, pods] = await Promise.all([
        unlessForbidden(core.listNamespacedService({ namespace })),
        core.listNamespacedPod({ namespace }),
    ]);
    const found = pods.items.filter(({ metadata }) => wanted.has(metadata!.uid!));
    return new Map(
        found.map((pod) => {
            const { labels = {} } = pod.metadata!;
            const leading = (services?.items ?? []).filter(({ spec }) => {
                const selector = Object.entries(spec?.selector ?? {});
                return selector.length > 0 && selector.every(([key, value]) => labels[key] === value);
            });
            const ports = leading
                .flatMap(({ spec }) => spec!.ports ?? [])
                .filter(({ protocol = "TCP" }) => protocol === "TCP")
                .flatMap(({ port, targetPort = port }) => portNumberIn(pod, targetPort) ?? []);
            return [pod.metadata!.uid!, [...new Set(ports)]];
        }),
    );
}
