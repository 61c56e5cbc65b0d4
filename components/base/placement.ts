import * as pulumi from "@pulumi/pulumi";
import type { StackConfiguration } from "../configuration/read";

type Placement = StackConfiguration["placement"];

/** Kinds whose pods run where the stack wants them. The DaemonSet runs on every node. */
const placed = ["kubernetes:apps/v1:Deployment"];
const pulled = [...placed, "kubernetes:apps/v1:DaemonSet"];

interface PodSpec {
    securityContext?: { runAsUser?: number; runAsGroup?: number; fsGroup?: number };
    imagePullSecrets?: object[];
    nodeSelector?: Record<string, string>;
    tolerations?: object[];
}

/** OpenShift's `restricted-v2` sets all of these from the namespace's range, and refuses others. */
function withoutIds({ runAsUser: _, runAsGroup: __, fsGroup: ___, ...rest }: NonNullable<PodSpec["securityContext"]>) {
    return rest;
}

/**
 * Adds node selector, tolerations and pull Secrets to the pods of a component's workloads, beside those that they have,
 * and takes user ids out of them. Empty if the stack sets none of this. An experiment's own pods have them from
 * `experimentPods`.
 */
export function placement({
    pullSecrets,
    nodeSelector,
    tolerations,
    withoutUserIds,
}: Partial<Omit<Placement, "priorityClassName">>): pulumi.ResourceTransformation[] {
    if (!pullSecrets && !nodeSelector && !tolerations && !withoutUserIds) return [];
    const place = (pod: PodSpec, isPlaced: boolean) => ({
        ...pod,
        ...(withoutUserIds && pod.securityContext && { securityContext: withoutIds(pod.securityContext) }),
        ...(pullSecrets && {
            imagePullSecrets: [...(pod.imagePullSecrets ?? []), ...pullSecrets.map((name) => ({ name }))],
        }),
        ...(isPlaced && nodeSelector && { nodeSelector: { ...pod.nodeSelector, ...nodeSelector } }),
        ...(isPlaced && tolerations && { tolerations: [...(pod.tolerations ?? []), ...tolerations] }),
    });
    return [
        ({ type, props, opts }) => {
            if (!pulled.includes(type)) return undefined;
            const spec = pulumi
                .output(props.spec as pulumi.Input<{ template?: { spec?: PodSpec } } | undefined>)
                .apply((spec) =>
                    // A manifest's may have none: the API server says what is wrong.
                    spec?.template?.spec
                        ? {
                              ...spec,
                              template: { ...spec.template, spec: place(spec.template.spec, placed.includes(type)) },
                          }
                        : spec,
                );
            return { props: { ...props, spec }, opts };
        },
    ];
}

/** The same for the pods of an experiment, with their priority class, as its `pod`. */
export const experimentPods = ({ pullSecrets, withoutUserIds, ...rest }: Placement) => ({
    imagePullSecrets: pullSecrets,
    ...rest,
    ...(withoutUserIds && { runAsUser: false as const }),
});
