import { type V1NetworkPolicy, Watch } from "@kubernetes/client-node";
import type { Cluster } from "../shared/kubernetes";

export interface PolicyDeletions {
    /** When the deletion of a policy was heard of, in milliseconds since the epoch. @throws Error where it was not */
    deletedAt(name: string): number;
    stop(): void;
}

/** Listens to what becomes of a namespace's NetworkPolicies, from the moment that the promise is fulfilled. */
export async function watchPolicies(cluster: Cluster, namespace: string): Promise<PolicyDeletions> {
    const deleted = new Map<string, number>();
    let broken: unknown;
    const onEvent = (phase: string, policy: V1NetworkPolicy) => {
        if (phase === "DELETED") deleted.set(policy.metadata!.name!, Date.now());
    };
    const path = `/apis/networking.k8s.io/v1/namespaces/${namespace}/networkpolicies`;
    const abort = await new Watch(cluster.kubeconfig).watch(path, {}, onEvent, (error: unknown) => (broken = error));
    return {
        deletedAt(name) {
            const at = deleted.get(name);
            if (at !== undefined) return at;
            throw new Error(`the policy ${name} was not seen to go${broken ? `: the watch ended: ${String(broken)}` : ""}`);
        },
        stop: () => abort.abort(),
    };
}
