import type { V1Service } from "@kubernetes/client-node";
import { type Cluster, ignoreNotFound, mergePatch } from "../cluster/client";
import { againOnConflict } from "../cluster/conflict";
import { fieldManager } from "../cluster/labels";
import { patchUntilDone } from "../cluster/patching";
import { isPointing, nextPointing, nextRestoring, proxyOf } from "./pointing";

/** Points a Service to a fault's proxy: the fault begins. @throws Error as `nextPointing` does, or if it is gone */
export async function pointAt(
    cluster: Cluster,
    namespace: string,
    service: string,
    to: Parameters<typeof nextPointing>[1],
): Promise<void> {
    const found = await change(cluster, namespace, service, (current) => nextPointing(current, to));
    if (found === undefined) throw new Error(`the Service ${service} is gone`);
}

/**
 * Restores all Services of a namespace that runs have pointed to proxies.
 *
 * @returns their number
 */
export async function restoreServices(cluster: Cluster, namespace: string): Promise<number> {
    const { items } = await cluster.core.listNamespacedService({ namespace });
    const pointed = items.filter(isPointing);
    await Promise.all(
        pointed.map((service) => {
            const kept = items.find(({ metadata }) => metadata!.name === proxyOf(service))?.spec?.selector;
            const restore = (current: V1Service) => nextRestoring(current, kept);
            return change(cluster, namespace, service.metadata!.name!, restore);
        }),
    );
    return pointed.length;
}

function change(
    { core }: Cluster,
    namespace: string,
    name: string,
    next: (service: V1Service) => object | undefined,
): Promise<V1Service | undefined> {
    const patch = (body: object) =>
        ignoreNotFound(core.patchNamespacedService({ name, namespace, body, fieldManager }, mergePatch()));
    return againOnConflict(async () =>
        patchUntilDone(await ignoreNotFound(core.readNamespacedService({ name, namespace })), next, patch),
    );
}
