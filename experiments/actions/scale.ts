import { PatchStrategy, setHeaderOptions, type V1Deployment } from "@kubernetes/client-node";
import { annotations } from "../../shared/labels";
import { type Cluster, orMissing, statusOf } from "../../shared/kubernetes";
import type { ActionKind } from "./action";
import { restoring, scaling } from "./scaling";

/** Gives a Deployment another number of pods, as `kubectl scale` does, until the attacks are undone. */
export interface ScaleAction {
    kind: "scale";
    /** Its name, in the namespace of the attacks. */
    deployment: string;
    replicas: number;
}

/** How often a change is tried again that somebody else's has crossed. */
const mostTries = 5;

export const scale: ActionKind<ScaleAction> = {
    describe: ({ deployment, replicas }) => `scale ${deployment} to ${replicas}`,
    act: async ({ deployment: name, replicas }, cluster, namespace) => {
        const read = () => cluster.apps.readNamespacedDeployment({ name, namespace });
        if (!(await changed(cluster, read, (deployment) => scaling(deployment, replicas))))
            throw new Error(`there is no Deployment ${name} in namespace ${namespace}`);
    },
};

/** Gives every Deployment of a namespace that an experiment has scaled its number of pods back. @returns how many there were */
export async function restoreAll(cluster: Cluster, namespace: string): Promise<number> {
    const { items } = await cluster.apps.listNamespacedDeployment({ namespace });
    const scaled = items
        .filter(({ metadata }) => metadata?.annotations?.[annotations.scaled] !== undefined)
        .map(({ metadata }) => metadata!.name!);
    await Promise.all(
        scaled.map((name) =>
            changed(cluster, () => cluster.apps.readNamespacedDeployment({ name, namespace }), restoring),
        ),
    );
    return scaled.length;
}

/**
 * Changes a Deployment as it is at that moment: the API server refuses (409) where somebody else has changed it since.
 *
 * @param change a merge patch; undefined where there is nothing to change
 * @returns whether the Deployment is there
 */
async function changed(
    { apps }: Cluster,
    read: () => Promise<V1Deployment>,
    change: (deployment: V1Deployment) => object | undefined,
): Promise<boolean> {
    for (let tries = 1; ; tries++) {
        const deployment = await orMissing(read());
        const body = deployment && change(deployment);
        if (!body) return deployment !== undefined;
        const { name, namespace } = deployment.metadata as { name: string; namespace: string };
        try {
            await apps.patchNamespacedDeployment(
                { name, namespace, body },
                setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
            );
            return true;
        } catch (error) {
            if (statusOf(error) === 404) return false;
            if (statusOf(error) !== 409 || tries === mostTries) throw error;
        }
    }
}
