import type { V1ObjectMeta } from "@kubernetes/client-node";
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

export interface ChartAgentArgs {
    namespace: pulumi.Input<string>;
    clusterName: string;
    key: pulumi.Input<string>;
    chart: { name: string; repo: string; version?: string; valuesFile?: string };
    /** How long the chart's hooks may take. */
    timeoutMs: number;
}

/** Name of the release: its namespace is the agent's own. */
const release = "agent";

/**
 * The vendor's agent from its chart, as a release that Helm's own commands know. It is not waited for by Helm, which
 * says "context deadline exceeded" and not which pod did not get ready; a failed one stays, and the next update
 * upgrades it.
 */
export function chartAgent(name: string, { namespace, clusterName, key, chart, timeoutMs }: ChartAgentArgs, opts?: pulumi.CustomResourceOptions): k8s.helm.v3.Release {
    return new k8s.helm.v3.Release(
        name,
        {
            name: release,
            namespace,
            chart: chart.name,
            version: chart.version,
            repositoryOpts: { repo: chart.repo },
            valueYamlFiles: chart.valuesFile === undefined ? undefined : [new pulumi.asset.FileAsset(chart.valuesFile)],
            // The cluster's name by the name that the document has for it, and by the current chart's.
            values: pulumi.secret({ agent: { key }, cluster: { name: clusterName }, global: { clusterName } }),
            skipAwait: true,
            timeout: Math.ceil(timeoutMs / 1_000),
        },
        // Whatever of it a chart shows, the key may be in it.
        { ...opts, additionalSecretOutputs: ["values", "manifest"] },
    );
}

/** Whether Helm made a workload for the release. */
export function isOfRelease({ annotations }: V1ObjectMeta): boolean {
    return annotations?.["meta.helm.sh/release-name"] === release;
}
