import type * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";
import { type Chart, chartRelease } from "../install/chart";

export interface ChartAgentArgs {
    namespace: pulumi.Input<string>;
    clusterName: string;
    key: pulumi.Input<string>;
    chart: Chart;
    /** How long the chart's hooks may take. */
    timeoutMs: number;
}

/** Name of the agent's release: its namespace is the agent's own. */
export const agentRelease = "agent";

/** The vendor's agent from its chart. */
export function chartAgent(
    name: string,
    { namespace, clusterName, key, chart, timeoutMs }: ChartAgentArgs,
    opts?: pulumi.CustomResourceOptions,
): k8s.helm.v3.Release {
    // The cluster's name by the name that the document has for it, and by the current chart's.
    const values = pulumi.secret({ agent: { key }, cluster: { name: clusterName }, global: { clusterName } });
    return chartRelease(name, { chart, release: agentRelease, namespace, values, timeoutMs }, opts);
}
