import type * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../../shared/kubernetes";
import { labels } from "../../shared/labels";
import { awaitReady, type Workloads } from "../cluster/ready";
import type { AgentSettings } from "../configuration/read";
import { isOfRelease } from "../install/chart";
import type { ManifestObject } from "../manifest/read";
import { ownNamespace } from "../program/ownNamespace";
import { restrictedNamespaceLabels } from "../program/podSecurity";
import { BuiltinAgent } from "./builtin";
import { agentRelease, chartAgent } from "./chart";
import { daemonSetsOf, ManifestAgent } from "./manifest";

export interface AgentArgs {
    settings: AgentSettings;
    clusterName: string;
    /** Namespace of the shop that it is installed beside. */
    shop: string;
    /** A Node image, for the builtin agent. */
    image: string;
    /** For looking whether it is ready. */
    cluster: Cluster;
    /** The manifest's objects, where it is installed from one. @default none */
    manifest?: readonly ManifestObject[];
}

/** What a stack tells of its agent. */
export interface AgentSummary {
    install: AgentSettings["install"];
    namespace: string;
    /** Pods that are ready, of those that there are to be: `1 of 1`. */
    ready: string;
}

/**
 * A discovery agent in a namespace of its own, which no experiment touches. Nothing of the shop waits for it, and it
 * waits for nothing of the shop.
 */
export class Agent extends pulumi.ComponentResource {
    /** Known once the agent is ready; an error where it does not get so. */
    readonly summary: pulumi.Output<AgentSummary>;

    constructor(name: string, args: AgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:Agent", name, {}, opts);
        const { install, namespace, timeoutMs } = args.settings;
        // From the beginning of the update: whatever it takes to install the agent is part of the limit.
        const giveUpAt = Date.now() + timeoutMs;
        const { installed, workloads } = installAgent(name, args, { parent: this });
        this.summary = installed.apply(async () => {
            const { ready } = await awaitReady(args.cluster, "the agent", workloads, giveUpAt, timeoutMs);
            return { install, namespace: workloads[0]?.namespace ?? namespace, ready };
        });
        this.registerOutputs({});
    }
}

interface Installation {
    /** Known once all of the agent is in the cluster; it may not be ready yet. */
    installed: pulumi.Output<unknown>;
    /** What has to get ready. */
    workloads: Workloads[];
}

function installAgent(
    name: string,
    { settings, clusterName, shop, image, manifest = [] }: AgentArgs,
    opts: pulumi.CustomResourceOptions,
): Installation {
    const { install, key, chart, timeoutMs } = settings;
    // One that a manifest brings is made here, too: it must outlive a change to another way of installing.
    const isOwn = ({ kind, metadata }: ManifestObject) => kind === "Namespace" && metadata.name === settings.namespace;
    const namespace = agentNamespace(settings, manifest.find(isOwn)?.metadata.labels, opts).metadata.name;
    switch (install) {
        case "builtin": {
            const { daemonSet } = new BuiltinAgent(name, { namespace, shop, clusterName, key, image }, opts);
            return {
                installed: daemonSet.id,
                workloads: [{ namespace: settings.namespace, includes: (workload) => workload.name === name }],
            };
        }
        case "chart": {
            const { id } = chartAgent(name, { namespace, clusterName, key, chart, timeoutMs }, opts);
            return {
                installed: id,
                workloads: [{ namespace: settings.namespace, includes: isOfRelease(agentRelease) }],
            };
        }
        case "manifest": {
            const { ids } = new ManifestAgent(
                name,
                { namespace, objects: manifest.filter((object) => !isOwn(object)), key },
                opts,
            );
            return { installed: ids, workloads: daemonSetsOf(manifest, settings.namespace) };
        }
    }
}

/** The agent's own namespace, with the labels that a manifest gives it. A vendor's agent may ask for more than `restricted` admits. */
function agentNamespace(
    { namespace, install }: AgentSettings,
    given: Record<string, string> = {},
    opts: pulumi.CustomResourceOptions,
): k8s.core.v1.Namespace {
    const level = install === "builtin" ? restrictedNamespaceLabels : given;
    return ownNamespace(namespace, { ...level, [labels.protected]: "true" }, opts);
}
