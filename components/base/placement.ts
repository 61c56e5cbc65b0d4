import * as pulumi from "@pulumi/pulumi";
import type { StackConfiguration } from "../configuration/read";

/** Kinds whose pods run where the stack wants them. A Pod is a fault's proxy. The DaemonSet runs on every node. */
const placed = ["kubernetes:apps/v1:Deployment", "kubernetes:batch/v1:Job", "kubernetes:core/v1:Pod"];
const pulled = [...placed, "kubernetes:apps/v1:DaemonSet"];

interface PodSpec {
    nodeSelector?: Record<string, string>;
    tolerations?: object[];
}

/** The spec of a Pod, or of a Deployment, DaemonSet or Job. */
type Spec = PodSpec | { template: { spec: PodSpec } };

/**
 * Adds node selector, tolerations and pull Secrets to all pods of a component, beside those that they have. Empty if
 * the stack sets none of them.
 */
export function placement({
    pullSecrets,
    nodeSelector,
    tolerations,
}: StackConfiguration["placement"]): pulumi.ResourceTransformation[] {
    if (!pullSecrets && !nodeSelector && !tolerations) return [];
    const place = (pod: PodSpec, isPlaced: boolean) => ({
        ...pod,
        ...(pullSecrets && { imagePullSecrets: pullSecrets.map((name) => ({ name })) }),
        ...(isPlaced && nodeSelector && { nodeSelector: { ...pod.nodeSelector, ...nodeSelector } }),
        ...(isPlaced && tolerations && { tolerations: [...(pod.tolerations ?? []), ...tolerations] }),
    });
    return [
        ({ type, props, opts }) => {
            if (!pulled.includes(type)) return undefined;
            const isPlaced = placed.includes(type);
            const changed = pulumi
                .output(props.spec as pulumi.Input<Spec>)
                .apply((spec) =>
                    "template" in spec
                        ? { ...spec, template: { ...spec.template, spec: place(spec.template.spec, isPlaced) } }
                        : place(spec, isPlaced),
                );
            return { props: { ...props, spec: changed }, opts };
        },
    ];
}
