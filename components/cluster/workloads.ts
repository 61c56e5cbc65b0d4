import type { V1Deployment, V1Pod } from "../../chaos/values/kubernetes-types";
import * as pulumi from "@pulumi/pulumi";
import type { StackConfiguration } from "../configuration/read";
import { setTimeout as sleep } from "node:timers/promises";
import { type Cluster, sentAt } from "../../chaos/cluster/client";
import { targetLabelOf } from "../../chaos/cluster/labels";
import { countOf, type Making, whatItWaitsFor } from "./waiting";
import { resources } from "../../chaos/cluster/resources";

export interface InstalledShop extends pulumi.Resource {
    /** Resolves when all objects are in the cluster. */
    readonly installed: pulumi.Output<unknown>;
    /** Workloads that no resource waits for: a small node may have no room for them. @default none */
    readonly mayStayPending?: readonly string[];
}

interface Found {
    deployment: V1Deployment;
    pods: V1Pod[];
    mayStayPending: boolean;
    /** The age of the newest pod, or of the Deployment if it has no pod. */
    ageMs: number;
    reason?: string;
}

/**
 * The state of a shop's workloads by name: `2 of 2 ready`, or how many are ready, what the others wait for and what to
 * do. Every preview and update reads it from the cluster.
 *
 * An update waits for pods that may stay Pending until they are `ordersReadyTimeoutMs` old. Then it logs a warning and
 * continues: the rest of the shop works without them. During an attack it does not wait: the attack may be what keeps a
 * workload from becoming ready.
 */
export function awaitWorkloads(
    shop: InstalledShop,
    configuration: Pick<StackConfiguration, "namespace" | "ordersReadyTimeoutMs"> & Making,
    { api: cluster }: { api: Cluster },
): pulumi.Output<Record<string, string>> {
    const { installed, mayStayPending = [] } = shop;
    const { namespace, ordersReadyTimeoutMs } = configuration;
    return installed.apply(async () => {
        let logged = "";
        for (;;) {
            const found = await look(cluster, namespace, configuration, mayStayPending);
            const pending = found.filter(({ mayStayPending, reason }) => mayStayPending && reason !== undefined);
            if (pending.length === 0 || found.some(isUnderAttack) || pulumi.runtime.isDryRun()) return summary(found);
            if (pending.every(({ ageMs }) => ageMs >= ordersReadyTimeoutMs)) {
                await pulumi.log.warn(
                    `${reasons(pending)}\nThe rest of the shop works. The next update checks them again.`,
                    shop,
                );
                return summary(found);
            }
            // At once, not only at the end of the limit.
            const unstarted = reasons(
                pending.filter(({ pods }) => !pods.some(({ status }) => status?.phase === "Running")),
            );
            if (unstarted !== logged) await pulumi.log.info(unstarted, shop, undefined, true);
            logged = unstarted;
            await sleep(500);
        }
    });
}

async function look(
    cluster: Cluster,
    namespace: string,
    making: Making,
    mayStayPending: readonly string[],
): Promise<Found[]> {
    const [deployments, pods] = await Promise.all([
        cluster.all(resources.deployment, { namespace }),
        cluster.all(resources.pod, { namespace }),
    ]);
    const staying = pods.filter(({ metadata }) => metadata?.deletionTimestamp === undefined);
    return deployments.map((deployment) => {
        const own = staying.filter((pod) => isOf(pod, deployment));
        const mayStay = mayStayPending.includes(deployment.metadata!.name!);
        const made = (own.length > 0 ? own : [deployment]).map(({ metadata }) =>
            new Date(metadata!.creationTimestamp!).getTime(),
        );
        return {
            deployment,
            pods: own,
            mayStayPending: mayStay,
            ageMs: sentAt(pods) - Math.max(...made),
            reason: whatItWaitsFor(cluster, deployment, own, making, mayStay),
        };
    });
}

function isOf({ metadata }: V1Pod, { spec }: V1Deployment): boolean {
    return Object.entries(spec!.selector.matchLabels ?? {}).every(([key, value]) => metadata?.labels?.[key] === value);
}

const isUnderAttack = ({ pods }: Found) => pods.some((pod) => targetLabelOf(pod) !== undefined);

function summary(found: readonly Found[]): Record<string, string> {
    const lines = found.map(({ deployment, reason }) => {
        const { ready, wanted } = countOf(deployment);
        const counted = `${ready} of ${wanted} ready`;
        return [deployment.metadata!.name!, reason === undefined ? counted : `${counted}: ${reason}`];
    });
    return Object.fromEntries(lines) as Record<string, string>;
}

const reasons = (found: readonly Found[]) => found.map(({ reason }) => reason).join("\n");
