import type { V1ObjectMeta } from "../../chaos/values/kubernetes-types";
import * as k8s from "@pulumi/kubernetes";
import * as pulumi from "@pulumi/pulumi";

export interface Chart {
    name: string;
    repo: string;
    /** @default the newest */
    version?: string;
    /** A values file. @default none */
    valuesFile?: string;
}

export interface ChartReleaseArgs {
    chart: Chart;
    release: string;
    namespace: pulumi.Input<string>;
    /** Override the values file. */
    values: pulumi.Input<Record<string, unknown>>;
    /** Time limit for the chart's hooks. */
    timeoutMs: number;
}

/**
 * A release of a chart. Helm does not wait for its pods: its error would be "context deadline exceeded", without the
 * pod that is not ready. The next update upgrades a failed release.
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
            // Its URL may contain credentials: a user and password, a parameter, or a token in its path.
            repositoryOpts: pulumi.secret({ repo: chart.repo }),
            valueYamlFiles: chart.valuesFile === undefined ? undefined : [new pulumi.asset.FileAsset(chart.valuesFile)],
            // The provider merges the values file into them, and keeps that secret if they are.
            values: pulumi.secret(values),
            skipAwait: true,
            timeout: Math.ceil(timeoutMs / 1_000),
        },
        // A chart's values and manifests may contain keys and passwords.
        { ...opts, additionalSecretOutputs: ["repositoryOpts", "values", "manifest"] },
    );
}

export function isOfRelease(release: string): (metadata: V1ObjectMeta) => boolean {
    return ({ annotations }) => annotations?.["meta.helm.sh/release-name"] === release;
}
