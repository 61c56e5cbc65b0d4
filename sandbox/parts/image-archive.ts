import { createHash } from "node:crypto";
import { copyFileSync, linkSync, mkdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { GO_ARCHITECTURE } from "../../toolchain/parts/host";
import { sha256 } from "../../toolchain/parts/manifest";
import { type BuildLog, run } from "../../toolchain/parts/run";

/** How containers of an image start; the fields of the OCI image configuration. */
export interface ImageConfig {
    readonly Env?: readonly string[];
    readonly User?: string;
    readonly WorkingDir?: string;
    readonly Entrypoint?: readonly string[];
    readonly Cmd?: readonly string[];
    readonly ExposedPorts?: Record<string, object>;
    readonly StopSignal?: string;
}

/** An image of this machine's architecture. */
export interface ImageContent {
    /** Its names, such as `docker.io/library/node:22.23.3-bookworm-slim`. */
    readonly references: readonly string[];
    readonly config: ImageConfig;
    readonly labels: Record<string, string>;
    /** Uncompressed layer archives, lowest first. */
    readonly layers: readonly string[];
}

/** The time of everything in an image: equal content makes an equal image. */
const EPOCH = "1970-01-01T00:00:00Z";

/**
 * Packs a folder as an image layer: names sorted, times fixed, owners as numbers.
 *
 * @param excluded paths relative to the folder (`./usr/share/doc`), with wildcards.
 */
export async function packLayer(
    folder: string,
    layer: string,
    log: BuildLog,
    excluded: readonly string[] = [],
): Promise<void> {
    const patterns = excluded.map((path) => `--exclude=${path}`);
    const stable = ["--sort=name", `--mtime=${EPOCH}`, "--numeric-owner", "--format=gnu"];
    await run("tar", ["--create", `--file=${layer}`, ...stable, ...patterns, "--directory", folder, "."], log);
}

/**
 * Writes an image as `docker save` does: `manifest.json`, the configuration, one tar per layer.
 *
 * @see https://github.com/moby/docker-image-spec the format; `ctr images import` reads it.
 * @param archive the archive to write; a folder of the same name plus `.scratch` is used meanwhile.
 */
export async function writeImageArchive(image: ImageContent, archive: string, log: BuildLog): Promise<void> {
    const scratch = `${archive}.scratch`;
    mkdirSync(scratch);
    const digests: string[] = [];
    for (const layer of image.layers) {
        const digest = await sha256(layer);
        digests.push(digest);
        linkOrCopy(layer, join(scratch, `${digest}.tar`));
    }
    const config = JSON.stringify(imageConfiguration(image, digests, process.arch));
    const configFile = `${createHash("sha256").update(config).digest("hex")}.json`;
    const layers = digests.map((digest) => `${digest}.tar`);
    writeFileSync(join(scratch, configFile), config);
    writeFileSync(
        join(scratch, "manifest.json"),
        JSON.stringify([{ Config: configFile, RepoTags: image.references, Layers: layers }]),
    );
    const files = ["manifest.json", configFile, ...new Set(layers)];
    await run("tar", ["--create", `--file=${archive}`, "--directory", scratch, ...files], log);
    rmSync(scratch, { recursive: true });
}

/**
 * The image's configuration according to the OCI image specification.
 *
 * @param digests the SHA-256 of each uncompressed layer, lowest first.
 * @param architecture Node's name of it.
 */
export function imageConfiguration(image: ImageContent, digests: readonly string[], architecture: string): object {
    return {
        architecture: GO_ARCHITECTURE[architecture],
        os: "linux",
        created: EPOCH,
        config: { ...image.config, Labels: image.labels },
        rootfs: { type: "layers", diff_ids: digests.map((digest) => `sha256:${digest}`) },
        history: digests.map(() => ({ created: EPOCH, created_by: "chaos-shop sandbox" })),
    };
}

function linkOrCopy(from: string, to: string): void {
    if (statSync(to, { throwIfNoEntry: false })) return;
    try {
        linkSync(from, to);
    } catch {
        copyFileSync(from, to); // Another file system.
    }
}
