import type * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type Chart, chartRelease } from "../install/chart";

export interface ChartAgentArgs {
    namespace: pulumi.Input<string>;
    clusterName: string;
    key: pulumi.Input<string>;
    chart: Chart;
    /** Time limit for the chart's hooks. */
    timeoutMs: number;
}

/** Name of the agent's Helm release. Unique, since the agent has its own namespace. */
export const agentRelease = "agent";

/** The vendor's agent from its chart. */
export function chartAgent(
    name: string,
    { namespace, clusterName, key, chart, timeoutMs }: ChartAgentArgs,
    opts?: pulumi.CustomResourceOptions,
): k8s.helm.v3.Release {
    // The specification's chart reads cluster.name, current charts read global.clusterName.
    const values = { agent: { key }, cluster: { name: clusterName }, global: { clusterName } };
    return chartRelease(name, { chart, release: agentRelease, namespace, values, timeoutMs }, opts);
}
