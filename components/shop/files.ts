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
