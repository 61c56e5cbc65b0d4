import * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { emptyDir } from "./files";

export interface StorageArgs {
    /** Size of the claim that the data lie on, such as `1Gi`. @default none: an `emptyDir`, gone with its pod */
    size?: string;
    /** @default the cluster's default */
    class?: string;
    /** Whether the claim outlives the stack. @default false */
    keep?: boolean;
}

/**
 * The volume `data` of a workload. A claim that outlived its stack is taken up again by the next one of that name: it is
 * made under the same name, and what the cluster has added to it is left alone.
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
            // A claim may bind only once its pod is there: waiting for it before the pod would wait forever.
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
