import type * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import type { Cluster } from "../../shared/kubernetes";
import { labels } from "../../shared/labels";
import type { AgentSettings } from "../configuration/read";
import { ownNamespace } from "../program/ownNamespace";
import { restrictedNamespaceLabels } from "../program/podSecurity";
import { BuiltinAgent } from "./builtin";
import { chartAgent } from "./chart";
import { daemonSetsOf, declares, ManifestAgent } from "./manifest";
import type { ManifestObject } from "./readManifest";
import { agentReady, type AgentWorkload } from "./ready";

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

    constructor(name: string, { settings, clusterName, shop, image, cluster, manifest = [] }: AgentArgs, opts?: pulumi.ComponentResourceOptions) {
        super("chaos-shop:agent:Agent", name, {}, opts);
        const { install, key, timeoutMs } = settings;
        // From the beginning of the update: whatever it takes to install the agent is part of the limit.
        const giveUpAt = Date.now() + timeoutMs;
        const child = { parent: this };
        const namespace = declares(manifest, settings.namespace) ? settings.namespace : agentNamespace(settings, child).metadata.name;

        const { installed, workloads } = ((): { installed: pulumi.Output<unknown>; workloads: AgentWorkload[] } => {
            const all = [{ namespace: settings.namespace }];
            switch (install) {
                case "builtin":
                    return { installed: new BuiltinAgent(name, { namespace, shop, clusterName, key, image }, child).daemonSet.id, workloads: all };
                case "chart":
                    return { installed: chartAgent(name, { namespace, clusterName, key, chart: settings.chart, timeoutMs }, child).id, workloads: all };
                case "manifest":
                    return { installed: new ManifestAgent(name, { namespace, objects: manifest, key }, child).ids, workloads: daemonSetsOf(manifest, settings.namespace) };
            }
        })();
        this.summary = installed.apply(async () => {
            const { ready } = await agentReady(cluster, workloads, giveUpAt, timeoutMs);
            return { install, namespace: workloads[0]!.namespace, ready };
        });
        this.registerOutputs({});
    }
}

/** The agent's own namespace. A vendor's agent may ask for more than `restricted` admits. */
function agentNamespace({ namespace, install }: AgentSettings, opts: pulumi.CustomResourceOptions): k8s.core.v1.Namespace {
    const level = install === "builtin" ? restrictedNamespaceLabels : {};
    return ownNamespace(namespace, { ...level, [labels.protected]: "true" }, opts);
}
