import type { V1Pod } from "../../chaos/values/kubernetes-types";
import type { TypedCluster as Cluster } from "./typed-cluster";
import { hasEnded } from "../../chaos/values/kubernetes-rules";
import { isReady } from "../../chaos/targets/containers";
import { possibleNodes } from "../../sandbox/node/nodes";
import { kubectl } from "../../sandbox/test/e2e/support";
import type { TestStack } from "../e2e/shop/support";
import { until } from "./until";

/** The names of the sandbox's nodes. The API server is on the first. */
export const [firstNodeName, secondNodeName] = possibleNodes.map(({ name }) => name) as [string, string];

/** Has no new pod come to a node. */
export const cordon = (node: string) => kubectl(["cordon", node]);
export const uncordon = (node: string) => kubectl(["uncordon", node]);

/** Lets pods start on each node: a killed run may have left one on which none does. */
export async function uncordonAll(): Promise<void> {
    await kubectl(["uncordon", ...(await kubectl(["get", "nodes", "--output", "name"])).split("\n")]);
}

/** Evicts all pods from a node, and waits until they have ended. No new pod comes to it. */
export const drain = (node: string) =>
    kubectl(["drain", node, "--ignore-daemonsets", "--delete-emptydir-data", "--force", "--timeout=90s"]);

export interface PodsOf {
    namespace: string;
    /** @default all of the namespace */
    labelSelector?: string;
}

/** Pods that are not being deleted, and have not ended. */
export async function livingPods({ core }: Cluster, of: PodsOf): Promise<V1Pod[]> {
    const { items } = await core.listNamespacedPod(of);
    return items.filter((pod) => pod.metadata!.deletionTimestamp === undefined && !hasEnded(pod));
}

/** Has pods of Deployments run on a node: those that are elsewhere are replaced there. */
export async function moveTo(node: string, cluster: Cluster, of: PodsOf): Promise<void> {
    const before = await livingPods(cluster, of);
    const elsewhere = before.filter(({ spec }) => spec!.nodeName !== node);
    if (elsewhere.length === 0) return;
    const other = node === firstNodeName ? secondNodeName : firstNodeName;
    await cordon(other);
    try {
        const { namespace } = of;
        await Promise.all(
            elsewhere.map(({ metadata }) => cluster.core.deleteNamespacedPod({ name: metadata!.name!, namespace })),
        );
        await until(`the pods are on ${node}`, async () => {
            const pods = await livingPods(cluster, of);
            return pods.length >= before.length && pods.every((pod) => pod.spec!.nodeName === node && isReady(pod));
        });
    } finally {
        await uncordon(other);
    }
}

/** Has hot-deals run on the second node. Everything else is on the first, and so is what comes later. */
export async function moveHotDeals(shop: Pick<TestStack, "cluster" | "namespace" | "untilWhole">): Promise<void> {
    const { cluster, namespace } = shop;
    await moveTo(firstNodeName, cluster, { namespace, labelSelector: "app!=hot-deals" });
    await moveTo(secondNodeName, cluster, { namespace, labelSelector: "app=hot-deals" });
    await shop.untilWhole();
    await cordon(secondNodeName);
}
