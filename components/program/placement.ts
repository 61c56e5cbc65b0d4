import * as pulumi from "@pulumi/pulumi";
import type { StackConfiguration } from "../configuration/read";

/** Kinds whose pods the shop and its experiments consist of. An agent's DaemonSet is to be on every node. */
const placed = ["kubernetes:apps/v1:Deployment", "kubernetes:batch/v1:Job"];
const pulled = [...placed, "kubernetes:apps/v1:DaemonSet"];

/**
 * Has the pods of a component be put where the stack wants them, and their images pulled with its Secrets. One place for
 * all of them; none where the stack says nothing of it.
 */
export function placement({
    pullSecrets,
    nodeSelector,
    tolerations,
}: StackConfiguration["placement"]): pulumi.ResourceTransformation[] {
    if (!pullSecrets && !nodeSelector && !tolerations) return [];
    const imagePullSecrets = pullSecrets?.map((name) => ({ name }));
    const place: pulumi.ResourceTransformation = ({ type, props, opts }) => {
        if (!pulled.includes(type)) return undefined;
        const fields = {
            ...(imagePullSecrets && { imagePullSecrets }),
            ...(placed.includes(type) && {
                ...(nodeSelector && { nodeSelector }),
                ...(tolerations && { tolerations }),
            }),
        };
        const spec = pulumi
            .output(props.spec)
            .apply((found) => ({
                ...found,
                template: { ...found.template, spec: { ...found.template.spec, ...fields } },
            }));
        return { props: { ...props, spec }, opts };
    };
    return [place];
}
