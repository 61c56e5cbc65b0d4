import { type Cluster, type ClusterAccess, connect, unlessForbidden } from "../cluster/client";
import { parseJson } from "../values/json";
import type { Plan } from "../definition/plan";
import { fromVariable, type SteadyState } from "./contract";
import { otherResources } from "../cluster/resources";

/** Tells a cluster from another whose namespaces have the same names. Undefined if the account may not look. */
export async function namespaceUid(cluster: Cluster, { namespace }: Pick<Plan, "namespace">) {
    return (await unlessForbidden(cluster.read({ resource: otherResources.namespace, name: namespace })))?.metadata
        ?.uid;
}

/**
 * What the step `steady-state` printed, if the stack's new settings lead to the cluster in which its run began. The
 * state keeps these settings, and the run is undone with them.
 *
 * @param earlier what it printed. Version 0.6.0 and before did not say in which cluster
 * @throws Error if they lead to another cluster: what the run has made and changed would stay in the first
 */
export async function outputIfSameCluster(access: ClusterAccess, plan: Plan, earlier: string): Promise<string> {
    const began = (parseJson(fromVariable(earlier)) as Partial<SteadyState> | undefined)?.namespaceUid;
    if (began === undefined) return earlier;
    const cluster = connect(access);
    const now = await namespaceUid(cluster, plan);
    if (now === began) return earlier;
    const context = cluster.kubeconfig.getCurrentContext();
    const seen = now === undefined ? "has no such namespace" : "has another namespace of that name";
    throw new Error(
        `the experiment ${plan.experiment} runs in namespace ${plan.namespace} of the cluster in which it began, and ` +
            `the context ${context} leads to a cluster that ${seen}. Go back to the context and kubeconfig of ` +
            "before, and disable the experiment; then change them. Or disable it and change them in the same update: " +
            "it is undone where it began",
    );
}
