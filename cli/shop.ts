import { setTimeout as sleep } from "node:timers/promises";
import type { Answer } from "../chaos/checks/answer";
import { askProducts } from "../experiments/products";
import { chooseRoute } from "../chaos/checks/route";
import { gatewayOf } from "../components/shop/gateway";
import { isReady } from "../chaos/targets/containers";
import { type Cluster, mergePatch } from "../chaos/cluster/client";

export async function podsOf(cluster: Cluster, namespace: string) {
    const { items } = await cluster.core.listNamespacedPod({ namespace });
    return items
        .filter(({ metadata }) => metadata?.deletionTimestamp === undefined)
        .map((pod) => ({ name: pod.metadata!.name!, status: pod.status?.phase ?? "Unknown", ready: isReady(pod) }));
}

/** Requests `/products` until the listing is complete, for at most `patienceMs`. @returns the last answer */
export async function wholeProducts(cluster: Cluster, namespace: string, patienceMs: number): Promise<Answer> {
    const route = await chooseRoute(cluster, gatewayOf(namespace));
    const begun = Date.now();
    for (;;) {
        const answer = await askProducts(cluster, route, 5_000);
        if (answer.good || Date.now() - begun >= patienceMs) return answer;
        await sleep(200);
    }
}

/** Scales a Deployment and waits until exactly that many pods are ready. */
export async function scale(cluster: Cluster, namespace: string, name: string, replicas: number): Promise<void> {
    const body = { spec: { replicas } };
    await cluster.apps.patchNamespacedDeploymentScale({ name, namespace, body }, mergePatch());
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
                `${name} has ${status?.readyReplicas ?? 0} of ${replicas} pods ready after two minutes; ` +
                    `see \`kubectl --namespace ${namespace} get pods\``,
            );
        await sleep(200);
    }
}
