import * as pulumi from "@pulumi/pulumi";
import type { StackConfiguration } from "../configuration/read";

/** Kinds whose pods run where the stack wants them. The agent's DaemonSet runs on every node. */
const placed = ["kubernetes:apps/v1:Deployment", "kubernetes:batch/v1:Job"];
const pulled = [...placed, "kubernetes:apps/v1:DaemonSet"];

/** The spec of a Deployment, DaemonSet or Job. */
interface PodsSpec {
    template: { spec: object };
}

/**
 * Adds node selector, tolerations and pull Secrets to all pods of a component. Empty if the stack sets none of them.
 */
export function placement({
    pullSecrets,
    nodeSelector,
    tolerations,
}: StackConfiguration["placement"]): pulumi.ResourceTransformation[] {
    if (!pullSecrets && !nodeSelector && !tolerations) return [];
    const pull = pullSecrets && { imagePullSecrets: pullSecrets.map((name) => ({ name })) };
    const place = { ...(nodeSelector && { nodeSelector }), ...(tolerations && { tolerations }) };
    return [
        ({ type, props, opts }) => {
            if (!pulled.includes(type)) return undefined;
            const { spec, ...rest } = props as { spec: pulumi.Input<PodsSpec> };
            const changed = pulumi.output(spec).apply(({ template, ...others }) => ({
                ...others,
                template: { ...template, spec: { ...template.spec, ...pull, ...(placed.includes(type) && place) } },
            }));
            return { props: { ...rest, spec: changed }, opts };
        },
    ];
}
