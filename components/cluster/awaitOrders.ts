import type { V1Deployment, V1Pod } from "@kubernetes/client-node";
import * as pulumi from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, orMissing } from "../../shared/kubernetes";
import type { Orders } from "../shop/orders";
import { whatItWaitsFor } from "./waiting";

/** A workload as the cluster has it. */
interface Found {
    deployment: V1Deployment;
    pods: V1Pod[];
}

/**
 * Waits for orders, inventory and their broker, and tells how they fare: `ready`, or for each that is not what it waits for and what
 * to do. Looked at on every preview and update, so that one that found its room later shows up in the outputs.
 *
 * Pods that are younger than `timeoutMs` are waited for during an update; then a warning tells of them, and the update
 * goes on: the rest of the shop does without.
 */
export function awaitOrders(orders: Orders, cluster: Cluster, timeoutMs: number): pulumi.Output<string> {
    // The ids are known once the Deployments are there.
    const deployments = orders.workloads.map(({ deployment }) => pulumi.all([deployment.id, deployment.metadata]));
    return pulumi.all(deployments).apply(async (objects) => {
        let told = "";
        for (;;) {
            const found = await Promise.all(objects.map(([, { name, namespace }]) => look(cluster, name, namespace)));
            const waiting = found.filter((each) => each !== undefined).flatMap((each) => {
                const reason = whatItWaitsFor(each.deployment, each.pods);
                return reason === undefined ? [] : [{ ...each, reason }];
            });
            if (waiting.length === 0) return "ready";
            const sentences = waiting.map(({ reason }) => reason).join("\n");
            if (pulumi.runtime.isDryRun()) return sentences;
            if (waiting.every((each) => ageMs(each) >= timeoutMs)) {
                const rest = "The rest of the shop works. The next update looks again.";
                await pulumi.log.warn(`${sentences}\n${rest}`, orders);
                return sentences;
            }
            // At once, so that nobody waits minutes to learn what for.
            const pending = waiting.filter(({ pods }) => !pods.some(({ status }) => status?.phase === "Running")).map(({ reason }) => reason).join("\n");
            if (pending !== told) await pulumi.log.info(pending, orders, undefined, true);
            told = pending;
            await sleep(500);
        }
    });
}

async function look(cluster: Cluster, name: string, namespace: string): Promise<Found | undefined> {
    const [deployment, pods] = await Promise.all([
        orMissing(cluster.apps.readNamespacedDeployment({ name, namespace })),
        cluster.core.listNamespacedPod({ namespace, labelSelector: `app=${name}` }),
    ]);
    return deployment && { deployment, pods: pods.items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined) };
}

/** How long ago the newest pod was made; the Deployment, where there is no pod. */
function ageMs({ deployment, pods }: Found): number {
    const made = (pods.length > 0 ? pods : [deployment]).map(({ metadata }) => new Date(metadata!.creationTimestamp!).getTime());
    return Date.now() - Math.max(...made);
}
