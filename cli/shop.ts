import { PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../experiments/checks/answer";
import { askProducts } from "../experiments/checks/products";
import { chooseRoute } from "../experiments/checks/route";
import { isReady } from "../shared/containers";
import type { Cluster } from "../shared/kubernetes";

/** A pod, as `kubectl get pods` lists it. */
export interface PodLine {
    name: string;
    status: string;
    ready: boolean;
}

export async function podsOf(cluster: Cluster, namespace: string): Promise<PodLine[]> {
    const { items } = await cluster.core.listNamespacedPod({ namespace });
    return items
        .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
        .map((pod) => ({ name: pod.metadata!.name!, status: pod.status?.phase ?? "Unknown", ready: isReady(pod) }));
}

/** Asks `/products` until it is whole, as long as `patienceMs`; gives the last answer. */
export async function wholeProducts(cluster: Cluster, namespace: string, patienceMs: number): Promise<Answer> {
    const route = await chooseRoute(cluster, namespace);
    const begun = Date.now();
    for (;;) {
        const answer = await askProducts(cluster, route, 5_000);
        if (answer.good || Date.now() - begun > patienceMs) return answer;
        await sleep(200);
    }
}

/** What `kubectl scale` does, and then waits until just as many pods are ready. */
export async function scale(cluster: Cluster, namespace: string, name: string, replicas: number): Promise<void> {
    await cluster.apps.patchNamespacedDeploymentScale(
        { name, namespace, body: { spec: { replicas } } },
        setHeaderOptions("Content-Type", PatchStrategy.MergePatch),
    );
    const giveUpAt = Date.now() + 120_000;
    for (;;) {
        const { spec, status, metadata } = await cluster.apps.readNamespacedDeployment({ name, namespace });
        const settled =
            status?.observedGeneration === metadata?.generation &&
            (status?.replicas ?? 0) === replicas &&
            (status?.readyReplicas ?? 0) === replicas;
        if (settled && spec?.replicas === replicas) return;
        if (Date.now() > giveUpAt)
            throw new Error(
                `${name} has ${status?.readyReplicas ?? 0} of ${replicas} pods ready after two minutes; look at \`kubectl --namespace ${namespace} get pods\``,
            );
        await sleep(200);
    }
}
