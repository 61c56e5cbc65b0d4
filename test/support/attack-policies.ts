import type { V1NetworkPolicy } from "../../chaos/values/kubernetes-types";
import type { TypedCluster as Cluster } from "./typed-cluster";
import { annotations, labels } from "../../chaos/cluster/labels";

/** The NetworkPolicies of a namespace that are attacks. An application may have its own. */
export async function attackPolicies({ networking }: Cluster, namespace: string): Promise<V1NetworkPolicy[]> {
    const labelSelector = `${labels.experiment},!${labels.witness}`;
    return (await networking.listNamespacedNetworkPolicy({ namespace, labelSelector })).items;
}

/** Those that a run has created or changed, or that let its deadline Job work. */
export async function policiesOfRuns({ networking }: Cluster, namespace: string): Promise<V1NetworkPolicy[]> {
    const { items } = await networking.listNamespacedNetworkPolicy({ namespace });
    return items.filter(
        ({ metadata: { labels: of = {}, annotations: noted = {} } = {} }) =>
            labels.experiment in of || labels.witness in of || annotations.exempting in noted,
    );
}
