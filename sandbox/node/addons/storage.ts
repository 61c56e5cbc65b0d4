import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { nodeName } from "../addresses";
import type { KubernetesObject } from "../api";
import { layout } from "../layout";

/** The default StorageClass of the sandbox. */
const storageClass = "sandbox-local";

const volumeNames = ["sandbox-volume-1", "sandbox-volume-2", "sandbox-volume-3", "sandbox-volume-4"] as const;

/** Creates the volumes' folders. A pod's `fsGroup` makes one writable to the pod's user. */
export function createVolumeFolders(): void {
    for (const name of volumeNames) mkdirSync(join(layout.volumes, name), { recursive: true, mode: 0o755 });
}

/**
 * The StorageClass and its volumes. Like the local classes of kind and k3s it binds a claim when the first pod uses it.
 * The reclaim policy is Retain, since Kubernetes deletes no local volumes; the sandbox's controller empties a released
 * volume and frees it for the next claim.
 */
export function storageObjects(): KubernetesObject[] {
    return [
        {
            apiVersion: "storage.k8s.io/v1",
            kind: "StorageClass",
            metadata: { name: storageClass, annotations: { "storageclass.kubernetes.io/is-default-class": "true" } },
            provisioner: "kubernetes.io/no-provisioner",
            reclaimPolicy: "Retain",
            volumeBindingMode: "WaitForFirstConsumer",
        },
        ...volumeNames.map((name) => ({
            apiVersion: "v1",
            kind: "PersistentVolume",
            metadata: { name },
            spec: {
                capacity: { storage: "2Gi" },
                accessModes: ["ReadWriteOnce"],
                persistentVolumeReclaimPolicy: "Retain",
                storageClassName: storageClass,
                local: { path: join(layout.volumes, name) },
                nodeAffinity: {
                    required: {
                        nodeSelectorTerms: [
                            {
                                matchExpressions: [
                                    { key: "kubernetes.io/hostname", operator: "In", values: [nodeName] },
                                ],
                            },
                        ],
                    },
                },
            },
        })),
    ];
}
