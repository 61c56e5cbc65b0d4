import type { V1ObjectMeta } from "@kubernetes/client-node";
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

/** A chart in a repository. */
export interface Chart {
    name: string;
    repo: string;
    /** @default the newest */
    version?: string;
    /** A values file. @default none: the chart's own values */
    valuesFile?: string;
}

export interface ChartReleaseArgs {
    chart: Chart;
    /** Name of the release, as Helm's own commands know it. */
    release: string;
    namespace: pulumi.Input<string>;
    /** On top of the values file. */
    values: pulumi.Input<Record<string, unknown>>;
    /** How long the chart's hooks may take. */
    timeoutMs: number;
}

/**
 * A release of a chart. It is not waited for by Helm, which says "context deadline exceeded" and not which pod did not
 * get ready; a failed one stays, and the next update upgrades it.
 */
export function chartRelease(
    name: string,
    { chart, release, namespace, values, timeoutMs }: ChartReleaseArgs,
    opts?: pulumi.CustomResourceOptions,
): k8s.helm.v3.Release {
    return new k8s.helm.v3.Release(
        name,
        {
            name: release,
            namespace,
            chart: chart.name,
            version: chart.version,
            repositoryOpts: { repo: chart.repo },
            valueYamlFiles: chart.valuesFile === undefined ? undefined : [new pulumi.asset.FileAsset(chart.valuesFile)],
            values,
            skipAwait: true,
            timeout: Math.ceil(timeoutMs / 1_000),
        },
        // Whatever of its values a chart shows, a key or a password may be in it.
        { ...opts, additionalSecretOutputs: ["values", "manifest"] },
    );
}

/** Whether Helm made a workload for a release. */
export function isOfRelease(release: string): (metadata: V1ObjectMeta) => boolean {
    return ({ annotations }) => annotations?.["meta.helm.sh/release-name"] === release;
}
