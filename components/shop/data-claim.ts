import * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { emptyDir } from "./files";

export interface StorageArgs {
    /** Size of the PersistentVolumeClaim, such as `1Gi`. @default none: an `emptyDir`, deleted with its pod */
    size?: string;
    /** @default the cluster's default StorageClass */
    class?: string;
    /** Whether the claim outlives the stack. @default false */
    keep?: boolean;
}

/**
 * A workload's volume `data`. If its claim outlived the stack, the next stack of the same name uses it again.
 *
 * @param name the workload's
 */
export function dataVolume(
    name: string,
    namespace: pulumi.Input<string>,
    storage: StorageArgs,
    destPath: string,
    opts: pulumi.CustomResourceOptions,
): pulumi.Input<kx.types.VolumeMount> {
    if (storage.size === undefined) return emptyDir("data", destPath);
    const claim = new kx.PersistentVolumeClaim(
        `${name}-data`,
        {
            // A claim may bind only after its pod is created: waiting for it first would never end.
            metadata: { name: `${name}-data`, namespace, annotations: { "pulumi.com/skipAwait": "true" } },
            spec: {
                accessModes: ["ReadWriteOnce"],
                storageClassName: storage.class,
                resources: { requests: { storage: storage.size } },
            },
        },
        { ...opts, retainOnDelete: storage.keep },
    );
    return claim.mount(destPath);
}
