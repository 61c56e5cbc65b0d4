import * as kx from "@pulumi/kubernetesx";
import type * as pulumi from "@pulumi/pulumi";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { bundledFile, packedFile } from "../../shared/bundle";

/** Where the shop's programs are. */
export const servicesFolder = join(__dirname, "..", "..", "services");

/** Where a program lies in a pod. */
export const programMount = "/program";
/** What it is there: the bundle, packed by Brotli. */
export const packedName = "main.js.br";
/** @param packed an expression for the packed program @param path what stack traces call it */
const unpackAndRun = (packed: string, path: string) =>
    `module._compile(zlib.brotliDecompressSync(${packed}).toString(), "${path}")`;

/**
 * With what a pod runs a program that stays: by default glibc's allocator keeps what each of Node's dozen threads frees for
 * that thread, some 5 MB in all (mallopt(3), M_ARENA_MAX). Other C libraries do not look at it.
 */
export const nodeEnvironment = { MALLOC_ARENA_MAX: "1" };

export interface ProgramCommand {
    /** Node's own. @default none */
    nodeOptions?: string[];
    /** Which program of the bundle, where it holds several. @default the only one */
    name?: string;
}

/** The command that runs a program that is mounted. */
export function programCommand({ nodeOptions = [], name }: ProgramCommand = {}): string[] {
    const run = unpackAndRun(`fs.readFileSync("${programMount}/${packedName}")`, `${programMount}/main.js`);
    return ["node", ...nodeOptions, "--eval", run, ...(name === undefined ? [] : [name])];
}

/**
 * The command that runs a program which is short enough to be a part of it: some kilobytes when packed.
 *
 * @param entry the file that begins the program
 */
export function inlineProgramCommand(entry: string): string[] {
    const run = unpackAndRun('Buffer.from(process.argv[1], "base64")', `${nameOf(entry)}.js`);
    return ["node", "--eval", run, readFileSync(packedFile(entry), "base64")];
}

/** A program's name, which is its folder's. */
const nameOf = (entry: string) => basename(dirname(entry));

export interface ProgramArgs {
    namespace: pulumi.Input<string>;
    /** The file that begins the program. */
    entry: string;
}

/**
 * A program of ours in the cluster, or several with much in common: bundled into one file and kept in a ConfigMap that pods mount into a stock Node
 * image, so that neither a registry nor an image build stands between a change and the cluster. The name carries a
 * hash of the bundle: a changed program is another ConfigMap, which rolls the pods that mount it.
 *
 * It is packed, since the engine writes the whole state, with three copies of each ConfigMap, twice for every resource
 * that it makes: of text, that is a second of an update.
 */
export class Program extends kx.ConfigMap {
    constructor({ namespace, entry }: ProgramArgs, opts?: pulumi.CustomResourceOptions) {
        const { packed, hash } = bundle(entry);
        const name = `${nameOf(entry)}-program-${hash}`;
        const binaryData = { [packedName]: packed.toString("base64") };
        // A changed program has another name; and another version of Node may pack the same one into other bytes.
        super(
            name,
            { metadata: { name, namespace }, binaryData, immutable: true },
            { ...opts, ignoreChanges: ["binaryData"] },
        );
    }
}

/** What the API server takes for one ConfigMap (its documentation, "Motivation": 1 MiB). */
const configMapLimitBytes = 1_048_576;

/**
 * One TypeScript program and all that it imports as one file for Node, packed by Brotli, and a hash of it unpacked.
 *
 * @throws Error where the program does not compile, or is larger than a ConfigMap may be.
 */
export function bundle(entry: string): { packed: Buffer; hash: string } {
    const packed = readFileSync(packedFile(entry));
    if (packed.length >= configMapLimitBytes) {
        throw new Error(
            `${entry} is ${packed.length} bytes when bundled and packed; a ConfigMap holds less than ${configMapLimitBytes}`,
        );
    }
    return { packed, hash: shortHash(readFileSync(bundledFile(entry), "utf8")) };
}

/** Enough of a hash to tell two versions of one file apart in a name. */
export function shortHash(text: string): string {
    return createHash("sha256").update(text).digest("hex").slice(0, 8);
}
