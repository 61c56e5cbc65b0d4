import * as k8s from "@pulumi/kubernetes";
import * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { servicesFolder, shortHash } from "../base/program";

/**
 * The configuration of a stock image, from a folder in `services/`. Changed files are a new ConfigMap, which rolls the
 * pod.
 */
export function serviceFiles(
    name: string,
    folder: string,
    namespace: pulumi.Input<string>,
    opts: pulumi.CustomResourceOptions,
): kx.ConfigMap {
    const path = join(servicesFolder, folder);
    const files = readdirSync(path)
        .filter((file) => /\.(?:sh|sql|conf|js)$/.test(file))
        .sort();
    const data = Object.fromEntries(files.map((file) => [file, readFileSync(join(path, file), "utf8")]));
    const object = `${name}-${shortHash(JSON.stringify(data))}`;
    return new kx.ConfigMap(object, { metadata: { name: object, namespace }, data, immutable: true }, opts);
}

export function emptyDir(
    name: string,
    destPath: string,
    emptyDir: k8s.types.input.core.v1.EmptyDirVolumeSource = {},
): kx.types.VolumeMount {
    return { volume: { name, emptyDir }, destPath };
}

export interface StorageArgs {
    /** Size of the PersistentVolumeClaim, such as `1Gi`. @default none: an `emptyDir`, deleted with its pod */
    size?: string;
    /** @default the cluster's default StorageClass */
    class?: string;
    /** Whether the claim outlives the stack. @default false */
    keep?: boolean;
}

/**
 * A workload's volume `data`. The next stack that is given the namespace uses a claim that outlived its stack.
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
