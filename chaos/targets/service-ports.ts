import type { Cluster } from "../cluster/client";
import { endpointsIn, isAt } from "../cluster/service-endpoints";
import type { Target } from "./containers";

/**
 * The TCP ports at which the Services of a namespace lead to some of its pods, by their uid: ports need not be declared
 * in pods. What answers before an attack is what proves it.
 */
export async function servicePorts(
    cluster: Cluster,
    namespace: string,
    targets: readonly Pick<Target, "uid" | "namespace" | "address" | "addresses">[],
): Promise<Map<string, number[]>> {
    const there = targets.filter((one) => one.namespace === namespace);
    if (there.length === 0) return new Map();
    const endpoints = await endpointsIn(cluster, namespace);
    return new Map(
        there.map((target) => {
            const ports = endpoints.filter((one) => isAt(one, target)).flatMap((one) => one.ports);
            return [target.uid, [...new Set(ports.map(({ port }) => port))]];
        }),
    );
}
