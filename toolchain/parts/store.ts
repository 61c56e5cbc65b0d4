import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { damagedFiles, readManifest, writeManifest } from "./manifest";
import type { Part, StoredPart, Workshop } from "./part";
import { cachePaths } from "./paths";

/** Prefix of a part's folder during the build. */
const UNFINISHED = ".unfinished-";

/**
 * Hashes all inputs of a stored part: version, recipe, source files, architecture, and the fingerprints of the stored
 * parts that it needs. A part is rebuilt when its hash changes.
 *
 * @param neededFingerprints the fingerprints of the stored parts among `part.needs`.
 * @returns 16 hexadecimal digits.
 */
export function fingerprintOf(
    part: Pick<StoredPart, "name" | "version" | "recipe" | "sources" | "sourceFolder">,
    neededFingerprints: readonly string[],
): string {
    const hash = createHash("sha256");
    hash.update(JSON.stringify([part.name, part.version, process.arch, part.recipe, neededFingerprints]));
    for (const source of [...part.sources].sort()) {
        for (const file of filesUnder(part.sourceFolder, source)) {
            const content = readFileSync(join(part.sourceFolder, file));
            hash.update(`\0${file}\0${content.length}\0`).update(content);
        }
    }
    return hash.digest("hex").slice(0, 16);
}

function filesUnder(root: string, path: string): string[] {
    if (!statSync(join(root, path)).isDirectory()) return [path];
    return readdirSync(join(root, path))
        .sort()
        .flatMap((entry) => filesUnder(root, join(path, entry)));
}

function fingerprint(part: StoredPart): string {
    const needed = part.needs.filter((other) => other.kind === "stored");
    return fingerprintOf(part, needed.map(fingerprint));
}

/** The folder of a stored part, whether it exists or not: `<cache>/parts/<name>-<version>-<fingerprint>`. */
export function folderOf(part: StoredPart): string {
    return join(cachePaths().parts, `${part.name}-${part.version}-${fingerprint(part)}`);
}

/**
 * The state of a part; of a stored one by the size and time of its files. `missing` includes a part whose inputs
 * changed: its new folder does not exist yet. `damaged`: a file differs from its state after the build. `unneeded`: the
 * machine has an equivalent.
 */
export async function stateOf(part: Part): Promise<"made" | "missing" | "damaged" | "unneeded"> {
    if (part.kind === "installed") return (await part.isPresent()) ? "made" : "missing";
    const folder = folderOf(part);
    const manifest = readManifest(folder);
    if (manifest) return damagedFiles(folder, manifest).length > 0 ? "damaged" : "made";
    return part.isUnneeded?.() ? "unneeded" : "missing";
}

/**
 * Builds a stored part in a temporary folder and renames that when it is complete: an interrupted build never counts.
 * The caller holds the lock.
 */
export async function makeStored(part: StoredPart, workshop: Workshop): Promise<void> {
    const folder = folderOf(part);
    // The process id: a builder of a killed process may still be writing to its folder of the same part.
    const unfinished = join(cachePaths().parts, `${UNFINISHED}${part.name}-${process.pid}`);
    mkdirSync(unfinished, { recursive: true });
    const startedMs = Date.now();
    const facts = await part.make(unfinished, workshop);
    const seconds = Math.round((Date.now() - startedMs) / 1000);
    writeManifest(unfinished, { madeAt: new Date().toISOString(), seconds, facts });
    removeTree(folder);
    renameSync(unfinished, folder);
}

/** Removes the folders of interrupted builds. The caller holds the lock. */
export function removeUnfinished(): void {
    const { parts } = cachePaths();
    const left = existsSync(parts) ? readdirSync(parts).filter((entry) => entry.startsWith(UNFINISHED)) : [];
    for (const entry of left) {
        try {
            removeTree(join(parts, entry));
        } catch {
            // A folder that cannot be removed yet does no harm, and is removed the next time.
        }
    }
}

/**
 * Removes a folder and its content after unmounting what is mounted in it. A killed `mmdebstrap` may leave the host's
 * /dev or /proc bound inside its root, and removing through such a mount would remove the host's files.
 */
export function removeTree(folder: string): void {
    const mountPoints = readFileSync("/proc/self/mounts", "utf8")
        .split("\n")
        .map((line) => (line.split(" ")[1] ?? "").replaceAll("\\040", " "))
        .filter((point) => point.startsWith(`${folder}/`));
    for (const point of mountPoints.reverse()) execFileSync("umount", ["--lazy", point], { stdio: "ignore" });
    // A builder that is just ending may still be writing its last files.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
