import type * as pulumi from "@pulumi/pulumi";

/** An object that the stack installed. Resources of Pulumi's Kubernetes provider implement this. */
export interface InstalledObject {
    /** Known once the object exists. */
    id: pulumi.Output<unknown>;
    metadata: pulumi.Output<{ name: string; namespace: string }>;
}
