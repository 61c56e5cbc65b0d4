import type * as pulumi from "@pulumi/pulumi";

/** An object of the cluster that the stack has installed. A resource of Pulumi's Kubernetes provider is one. */
export interface InstalledObject {
    /** Known once it is there. */
    id: pulumi.Output<unknown>;
    metadata: pulumi.Output<{ name: string; namespace: string }>;
}
