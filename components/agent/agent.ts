import type * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../../chaos/cluster/client";
import { labels } from "../../chaos/cluster/labels";
import { restrictedNamespaceLabels } from "../../chaos/pods/pod-security";
import { ownNamespace } from "../base/own-namespace";
import { knownIdentity } from "../cluster/state-records";
import type { StackCluster } from "../cluster/cluster";
import type { GuardedObject } from "../cluster/destroying/refusal";
import { marksOf } from "../cluster/marks";
import { readerOf } from "../cluster/reading";
import { awaitReady, type Workloads } from "../cluster/ready";
import type { AgentSettings, StackConfiguration } from "../configuration/read";
import { chartRelease, type ChartReleaseArgs, isOfRelease } from "../install/chart";
import { kindsOf, type PlacedObject } from "../manifest/kinds";
import type { ManifestObject } from "../manifest/read";
import { setCommand } from "../pulumi-command";
import { BuiltinAgent, type BuiltinAgentArgs, clusterWide } from "./builtin";
import {
    anotherManifest,
    guardedObject,
    outsideOf,
    placesOf,
    requireNoForeignObjects,
    requireNotOfShop,
} from "./foreign-objects";
import { daemonSetsOf, manifestAgent, readManifest } from "./manifest";

/**
 * Checks that the agent can be installed. The shop is made in between: a mistake in the agent must touch nothing of it.
 *
 * @returns installs the agent, if the stack has one
 * @throws Error if the agent's manifest cannot be installed, or if what the agent has outside of the stack's namespaces
 *   exists and is somebody else's
 */
export async function checkedAgent(
    name: string,
    { agent: settings, clusterName, namespace: shop, images, networkPolicies }: StackConfiguration,
    { api: cluster, context, identity, provider, opts }: StackCluster,
): Promise<() => Agent | undefined> {
    if (!settings) return () => undefined;
    const { manifest: location, key, install } = settings;
    const objects = install === "manifest" ? await readManifest(location!, key, clusterName) : [];
    const owner = { stack: pulumi.getStack(), identity: await knownIdentity(identity) };
    const source = `agent.manifest is "${location?.replaceAll(key, "[secret]")}"`;
    requireNotOfShop(objects, source, shop);
    const read = readerOf(cluster.kubeconfig);
    const manifest = await placesOf(objects, { source, namespace: settings.namespace }, kindsOf(read));
    const [outside, from] =
        install === "builtin"
            ? [clusterWide(shop), { source: 'agent.install is "builtin"', instead: withoutAgent() }]
            : [outsideOf([settings.namespace, shop], manifest), { source, instead: anotherManifest() }];
    await requireNoForeignObjects(outside, { ...from, owner, context: context.name }, read);
    const guarded = outside.map(guardedObject);
    const own = { ...settings, manifest, guarded };
    const args = { ...own, clusterName, shop, identity, image: images.node, networkPolicies, cluster };
    // A vendor's agent chooses its own nodes.
    return () => new Agent(name, args, install === "builtin" ? opts : { provider });
}

const withoutAgent = () => `To do without an agent: ${setCommand("agent.enabled", "false")}`;

export interface AgentArgs extends Omit<AgentSettings, "manifest">, Omit<BuiltinAgentArgs, "namespace" | "key"> {
    /** The stack's identity; see `StackCluster`. */
    identity: pulumi.Input<string>;
    cluster: Cluster;
    /** The agent's manifest. Empty if it is not installed from one. */
    manifest: readonly PlacedObject[];
    guarded: readonly GuardedObject[];
}

/**
 * A discovery agent in a separate namespace, which no experiment touches. Shop and agent do not depend on each other.
 */
export class Agent extends pulumi.ComponentResource {
    /** Resolves when the agent is ready, as in `1 of 1`, and rejects if it does not become ready in time. */
    readonly summary: pulumi.Output<Pick<AgentSettings, "install" | "namespace"> & { ready: string }>;

    /** What the stack has outside of its namespaces, for the agent. */
    readonly guarded: readonly GuardedObject[];

    constructor(name: string, args: AgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:Agent", name, {}, opts);
        this.guarded = args.guarded;
        const { cluster, install, namespace, timeoutMs } = args;
        // The limit includes the time that the installation takes.
        const giveUpAt = Date.now() + timeoutMs;
        const { installed, workloads } = create(name, args, { parent: this });
        this.summary = installed.apply(async () => {
            const ready = await awaitReady(cluster, "the agent", workloads, giveUpAt, timeoutMs, withoutAgent());
            return { install, namespace: workloads[0]?.namespace ?? namespace, ready };
        });
        this.registerOutputs({});
    }
}

/** Installs the agent. `installed` resolves when all its objects are in the cluster; `workloads` must become ready. */
function create(
    name: string,
    args: AgentArgs,
    opts: pulumi.CustomResourceOptions,
): { installed: pulumi.Output<unknown>; workloads: Workloads[] } {
    const { install, key, manifest, namespace: own } = args;
    // Replaces the manifest's own Namespace: it must survive a change of agent.install.
    const isOwn = ({ kind, metadata }: ManifestObject) => kind === "Namespace" && metadata.name === own;
    // A vendor's agent may need more than the `restricted` level admits.
    const level =
        install === "builtin"
            ? restrictedNamespaceLabels
            : manifest.find(({ object }) => isOwn(object))?.object.metadata.labels;
    const namespaceArgs = { identity: args.identity, labels: { ...level, [labels.protected]: "true" } };
    const namespace = ownNamespace(own, namespaceArgs, opts).metadata.name;
    const marks = marksOf({ stack: pulumi.getStack(), identity: args.identity });
    switch (install) {
        case "builtin": {
            const { daemonSet } = new BuiltinAgent(name, { ...args, namespace, marks }, opts);
            return {
                installed: daemonSet.id,
                workloads: [{ namespace: own, includes: (workload) => workload.name === name }],
            };
        }
        case "chart": {
            const { id } = chartAgent(name, { ...args, namespace }, opts);
            return { installed: id, workloads: [{ namespace: own, includes: isOfRelease(agentRelease) }] };
        }
        case "manifest": {
            const objects = manifest.filter(({ object }) => !isOwn(object));
            const installed = manifestAgent(name, { namespace, objects, key, marks }, opts);
            return { installed, workloads: daemonSetsOf(manifest) };
        }
    }
}

/** Name of the agent's Helm release. Unique, since the agent has its own namespace. */
const agentRelease = "agent";

type ChartArgs = Pick<ChartReleaseArgs, "namespace" | "chart" | "timeoutMs"> & Pick<AgentArgs, "clusterName" | "key">;

export function chartAgent(
    name: string,
    { namespace, clusterName, key, chart, timeoutMs }: ChartArgs,
    opts?: pulumi.CustomResourceOptions,
): k8s.helm.v3.Release {
    // The specification's chart reads cluster.name, current charts read global.clusterName.
    const values = { agent: { key }, cluster: { name: clusterName }, global: { clusterName } };
    return chartRelease(name, { chart, release: agentRelease, namespace, values, timeoutMs }, opts);
}
