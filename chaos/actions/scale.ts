import * as z from "zod";
import { type Cluster, ignoreNotFound, mergePatch } from "../cluster/client";
import { againOnConflict } from "../cluster/conflict";
import { annotations } from "../cluster/labels";
import { allowedName, isName } from "../cluster/name";
import type { ActionKind } from "./kind";
import { restoring, type Scalable, scaling } from "./scaling";

/** Scales a Deployment, as `kubectl scale` does, until the run is undone. */
export interface ScaleAction {
    kind: "scale";
    /** Name of the Deployment. */
    deployment: string;
    /** Number of pods, 0 to 100. */
    replicas: number;
}

const deploymentName = z.string().refine(isName, { error: `not a Deployment name; allowed: ${allowedName}` });

export const scale = {
    schema: z.strictObject({
        kind: z.literal("scale"),
        deployment: deploymentName,
        replicas: z.int().min(0).max(100),
    }),
    describe: ({ deployment, replicas }) => `scale ${deployment} to ${replicas}`,
    rights: ({ deployment }, namespace) => [
        {
            namespace,
            apiGroup: "apps",
            resource: "deployments",
            names: [deployment],
            verbs: ["get", "patch"],
            why: "scale, and restore the number of pods",
        },
    ],
    workload: ({ deployment: name }) => ({ kind: "Deployment", name }),
    scales: ({ deployment }) => deployment,
    async perform({ deployment: name, replicas }, { cluster, namespace }) {
        const found = await patchCurrent(cluster, name, namespace, (deployment) => scaling(deployment, replicas));
        if (!found) throw new Error(`there is no Deployment ${name} in namespace ${namespace}`);
    },
} satisfies ActionKind<ScaleAction>;

/**
 * Restores the number of replicas of every Deployment of a namespace that an experiment has scaled.
 *
 * @returns the number of these Deployments
 */
export async function restoreAll(cluster: Cluster, namespace: string): Promise<number> {
    const { items } = await cluster.apps.listNamespacedDeployment({ namespace });
    const scaled = items.filter(({ metadata }) => metadata?.annotations?.[annotations.scaled] !== undefined);
    await Promise.all(scaled.map(({ metadata }) => patchCurrent(cluster, metadata!.name!, namespace, restoring)));
    return scaled.length;
}

/**
 * Patches a Deployment as it is now.
 *
 * @param patchFor a merge patch; undefined if there is nothing to change
 * @returns whether the Deployment exists
 */
function patchCurrent(
    { apps }: Cluster,
    name: string,
    namespace: string,
    patchFor: (deployment: Scalable) => object | undefined,
): Promise<boolean> {
    return againOnConflict(async () => {
        const deployment = await ignoreNotFound(apps.readNamespacedDeployment({ name, namespace }));
        const body = deployment && patchFor(deployment);
        if (!body) return deployment !== undefined;
        const patched = await ignoreNotFound(apps.patchNamespacedDeployment({ name, namespace, body }, mergePatch()));
        return patched !== undefined;
    });
}
