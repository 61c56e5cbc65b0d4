import type * as pulumi from "@pulumi/pulumi";

/**
 * Has the stack take over objects of its own that it does not know of: a killed update leaves some that it made but
 * could not write down, and where the next one would make them otherwise, server-side apply calls that a conflict of two
 * owners. Whose the shop or the agent is, its namespace says: that is not taken over, and all else is made after it.
 */
export const takeOver: pulumi.ResourceTransformation = ({ type, props, opts }) => {
    if (!type.startsWith("kubernetes:") || type === "kubernetes:core/v1:Namespace") return undefined;
    const { metadata } = props;
    return {
        props: {
            ...props,
            metadata: { ...metadata, annotations: { ...metadata?.annotations, "pulumi.com/patchForce": "true" } },
        },
        opts,
    };
};
