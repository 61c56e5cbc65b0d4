import * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bundledFile } from "../../shared/bundle";

/** Where the shop's programs are. */
export const servicesFolder = join(__dirname, "..", "..", "services");

/** Where a program lies in a pod, and the command that runs it. */
export const programMount = "/program";
export const programCommand = ["node", `${programMount}/main.js`];

export interface ProgramArgs {
    namespace: pulumi.Input<string>;
    /** The file that begins the program. Its folder's name is the program's. */
    entry: string;
    /** Name of the resource. @default the name of the object */
    resourceName?: string;
    /** Name of the object. @default the program's, with a hash of its bundle */
    objectName?: string;
    labels?: Record<string, string>;
}

/**
 * A program of ours in the cluster: bundled into one file and kept in a ConfigMap that pods mount into a stock Node
 * image, so that neither a registry nor an image build stands between a change and the cluster. The name carries a
 * hash of the bundle: a changed program is another ConfigMap, which rolls the pods that mount it.
 */
export class Program extends kx.ConfigMap {
    constructor({ namespace, entry, resourceName, objectName, labels }: ProgramArgs, opts?: pulumi.CustomResourceOptions) {
        const { text, hash } = bundle(entry);
        const name = objectName ?? `${basename(dirname(entry))}-program-${hash}`;
        super(resourceName ?? name, { metadata: { name, namespace, labels }, data: { "main.js": text }, immutable: true }, opts);
    }
}

/** What the API server takes for one ConfigMap (its documentation, "Motivation": 1 MiB). */
const configMapLimitBytes = 1_048_576;

/**
 * One TypeScript program and all that it imports as one file for Node.
 *
 * @throws Error where the program does not compile, or is larger than a ConfigMap may be.
 */
export function bundle(entry: string): { text: string; hash: string } {
    const text = readFileSync(bundledFile(entry), "utf8");
    const bytes = Buffer.byteLength(text);
    if (bytes >= configMapLimitBytes) {
        throw new Error(`${entry} is ${bytes} bytes when bundled; a ConfigMap holds less than ${configMapLimitBytes}`);
    }
    return { text, hash: shortHash(text) };
}

/** Enough of a hash to tell two versions of one file apart in a name. */
export function shortHash(text: string): string {
    return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
