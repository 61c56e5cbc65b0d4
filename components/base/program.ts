import * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bundledFile, gzippedBundle } from "../../toolchain/bundle";

export const servicesFolder = join(__dirname, "..", "..", "services");

export const programMount = "/program";
/** The compressed bundle, which `services/start.js` loads. */
const packedName = "main.js.gz";
const startName = "start.js";

/**
 * The environment of a long-running program. It has glibc's allocator use one arena instead of one for each of Node's
 * dozen threads, which saves some 5 MB (mallopt(3), M_ARENA_MAX). Other C libraries ignore it.
 */
export const nodeEnvironment = { MALLOC_ARENA_MAX: "1" };

/** The command that runs a mounted program. @param name the program's, if the bundle holds several */
export function programCommand(nodeOptions: readonly string[], name?: string): string[] {
    return ["node", ...nodeOptions, `${programMount}/${startName}`, ...(name === undefined ? [] : [name])];
}

export interface ProgramArgs {
    namespace: pulumi.Input<string>;
    entry: string;
}

/**
 * One or several of the shop's programs as a ConfigMap that pods mount into a stock Node image: this needs neither a
 * registry nor an image build. The name contains a hash of the bundle. A changed program is a new ConfigMap, which
 * rolls the pods that mount it.
 *
 * The bundle is compressed: the engine writes the whole state, with three copies of each ConfigMap, twice per resource.
 * Uncompressed, an update takes a second longer, and a rendered chart exceeds the 1 MiB of Helm's Secret.
 */
export class Program extends kx.ConfigMap {
    constructor({ namespace, entry }: ProgramArgs, opts?: pulumi.CustomResourceOptions) {
        const { packed, start, hash } = packedProgram(entry);
        const name = `${basename(dirname(entry))}-program-${hash}`;
        const data = { [startName]: start };
        const binaryData = { [packedName]: packed.toString("base64") };
        // Another version of Node may compress the same program differently. A changed program has another name.
        const ownOpts = { ...opts, ignoreChanges: ["binaryData"] };
        super(name, { metadata: { name, namespace }, data, binaryData, immutable: true }, ownOpts);
    }
}

/** The limit of a ConfigMap is 1 MiB (https://kubernetes.io/docs/concepts/configuration/configmap/). */
const configMapLimitBytes = 1_048_576;

/**
 * A TypeScript program with its imports as one compressed file for Node, the file that loads it, and a hash of both.
 *
 * @throws Error if the program does not compile, or is too large for a ConfigMap
 */
export function packedProgram(entry: string): { packed: Buffer; start: string; hash: string } {
    const packed = gzippedBundle(entry);
    if (packed.length >= configMapLimitBytes)
        throw new Error(`${entry} has ${packed.length} bytes compressed; a ConfigMap holds ${configMapLimitBytes}`);
    const start = readFileSync(join(servicesFolder, startName), "utf8");
    return { packed, start, hash: shortHash(readFileSync(bundledFile(entry), "utf8") + start) };
}

export function shortHash(text: string): string {
    return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
