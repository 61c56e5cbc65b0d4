import type { V1Deployment, V1Pod } from "@kubernetes/client-node";
import * as pulumi from "@pulumi/pulumi";
import { setTimeout as sleep } from "node:timers/promises";
import type { Cluster } from "../../shared/kubernetes";
import { targetMarkOf } from "../../shared/labels";
import { whatItWaitsFor } from "./waiting";

/** A shop whose workloads are told of. */
export interface InstalledShop extends pulumi.Resource {
    /** Known once all of it is in the cluster. */
    readonly installed: pulumi.Output<unknown>;
    /** Workloads that no update has waited for yet, since they may find no room. @default none */
    readonly mayStayPending?: readonly string[];
}

/** A workload as the cluster has it. */
interface Found {
    deployment: V1Deployment;
    /** Without those that are on their way out. */
    pods: V1Pod[];
    mayStayPending: boolean;
    /** What keeps it from being ready; undefined where it is. */
    reason?: string;
}

/**
 * How the workloads of a shop fare, by name: `2 of 2 ready`, or how many are, what the others wait for and what to do.
 * Looked at on every preview and update, so that one that found its room later, or that an experiment attacks, shows.
 *
 * Of those that may stay Pending, pods that are younger than `timeoutMs` are waited for during an update; then a warning
 * tells of them, and the update goes on: the rest of the shop does without. Under attack nothing is waited for: it may be
 * the attack that keeps them from being ready, and an update that is to end it gets to that only after this.
 */
export function awaitWorkloads(
    shop: InstalledShop,
    namespace: string,
    cluster: Cluster,
    timeoutMs: number,
): pulumi.Output<Record<string, string>> {
    const { installed, mayStayPending = [] } = shop;
    return installed.apply(async () => {
        let told = "";
        for (;;) {
            const found = await look(cluster, namespace, mayStayPending);
            const pending = found.filter(({ mayStayPending, reason }) => mayStayPending && reason !== undefined);
            if (pending.length === 0 || found.some(isUnderAttack) || pulumi.runtime.isDryRun()) return summary(found);
            if (pending.every((each) => ageMs(each) >= timeoutMs)) {
                await pulumi.log.warn(
                    `${reasons(pending)}\nThe rest of the shop works. The next update looks again.`,
                    shop,
                );
                return summary(found);
            }
            // At once, so that nobody waits minutes to learn what for.
            const unstarted = reasons(
                pending.filter(({ pods }) => !pods.some(({ status }) => status?.phase === "Running")),
            );
            if (unstarted !== told) await pulumi.log.info(unstarted, shop, undefined, true);
            told = unstarted;
            await sleep(500);
        }
    });
}

async function look({ apps, core }: Cluster, namespace: string, mayStayPending: readonly string[]): Promise<Found[]> {
    const [deployments, pods] = await Promise.all([
        apps.listNamespacedDeployment({ namespace }),
        core.listNamespacedPod({ namespace }),
    ]);
    const staying = pods.items.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    return deployments.items.map((deployment) => {
        const own = staying.filter((pod) => isOf(pod, deployment));
        const mayStay = mayStayPending.includes(deployment.metadata!.name!);
        return { deployment, pods: own, mayStayPending: mayStay, reason: whatItWaitsFor(deployment, own, mayStay) };
    });
}

/** Whether a Deployment's labels select a pod. */
function isOf({ metadata }: V1Pod, { spec }: V1Deployment): boolean {
    return Object.entries(spec!.selector.matchLabels ?? {}).every(([key, value]) => metadata?.labels?.[key] === value);
}

const isUnderAttack = ({ pods }: Found) => pods.some((pod) => targetMarkOf(pod) !== undefined);

function summary(found: readonly Found[]): Record<string, string> {
    const lines = found.map(({ deployment: { metadata, spec, status }, reason }) => {
        const ready = `${status?.readyReplicas ?? 0} of ${spec?.replicas ?? 1} ready`;
        return [metadata!.name!, reason === undefined ? ready : `${ready}: ${reason}`];
    });
    return Object.fromEntries(lines);
}

const reasons = (found: readonly Found[]) => found.map(({ reason }) => reason).join("\n");

/** How long ago the newest pod was made; the Deployment, where there is no pod. */
function ageMs({ deployment, pods }: Found): number {
    const made = (pods.length > 0 ? pods : [deployment]).map(({ metadata }) =>
        new Date(metadata!.creationTimestamp!).getTime(),
    );
    return Date.now() - Math.max(...made);
}
