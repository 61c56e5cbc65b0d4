import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { run, SILENT } from "./run";
import { fingerprintOf } from "./fingerprint";
import { damagedFiles, readManifest, writeManifest } from "./manifest";
import type { PartName, StoredPart, Workshop } from "./part";
import { sandboxPaths } from "./paths";
import { part, PARTS } from "./table";

/** What a part's folder is called until the part is whole. */
const UNFINISHED = ".unfinished-";

/** How a stored part stands: `missing` covers one whose inputs changed, as its new folder is not there yet. */
export type StoredState = "made" | "missing" | "damaged";

/** The fingerprint of a stored part; see {@link fingerprintOf}. */
export function fingerprint(stored: StoredPart): string {
    const needed = stored.needs.map(part).filter((other) => other.kind === "stored");
    return fingerprintOf(stored, needed.map(fingerprint));
}

/** The folder of a stored part, whether it is made or not: `<cache>/parts/<name>-<version>-<fingerprint>`. */
export function folderOf(name: PartName): string {
    const stored = part(name);
    if (stored.kind !== "stored") throw new Error(`the part ${name} is not kept in the cache`);
    return join(sandboxPaths().parts, `${name}-${stored.version}-${fingerprint(stored)}`);
}

/**
 * Looks whether a stored part is there and as it was made.
 *
 * @param thorough compares SHA-256 sums, some seconds for all parts; else sizes and times.
 */
export async function storedState(stored: StoredPart, thorough = false): Promise<StoredState> {
    const folder = folderOf(stored.name);
    const manifest = readManifest(folder);
    if (!manifest) return "missing";
    return (await damagedFiles(folder, manifest, thorough)).length > 0 ? "damaged" : "made";
}

/**
 * Makes a stored part in a folder of another name, and renames that once it is whole, so that a build which was cut
 * short never counts. The caller holds the lock.
 */
export async function makeStored(stored: StoredPart, workshop: Workshop): Promise<void> {
    const folder = folderOf(stored.name);
    // Its own name: a builder of a killed process may still be ending in the folder of the same part.
    const unfinished = join(sandboxPaths().parts, `${UNFINISHED}${stored.name}-${process.pid}`);
    mkdirSync(unfinished, { recursive: true });
    const startedMs = Date.now();
    const facts = await stored.make(unfinished, workshop);
    await writeManifest(unfinished, {
        name: stored.name,
        version: stored.version,
        fingerprint: fingerprint(stored),
        madeAt: new Date().toISOString(),
        seconds: Math.round((Date.now() - startedMs) / 1000),
        facts,
    });
    await removeTree(folder);
    renameSync(unfinished, folder);
}

/** Removes what builds that were cut short left behind. The caller holds the lock. */
export async function removeUnfinished(): Promise<void> {
    for (const entry of partFolders()) {
        // What cannot be removed yet is in nobody's way, and goes the next time.
        if (entry.startsWith(UNFINISHED)) await removeTree(join(sandboxPaths().parts, entry)).catch(() => undefined);
    }
}

/** The folders of parts whose inputs have changed since. */
export function supersededFolders(): string[] {
    const current = PARTS.filter((each) => each.kind === "stored").map((each) => folderOf(each.name));
    return partFolders()
        .filter((entry) => !entry.startsWith(UNFINISHED))
        .map((entry) => join(sandboxPaths().parts, entry))
        .filter((folder) => !current.includes(folder));
}

function partFolders(): string[] {
    const { parts } = sandboxPaths();
    return existsSync(parts) ? readdirSync(parts) : [];
}

/**
 * Removes a folder and all in it, after unmounting what is mounted there: a killed `mmdebstrap` may leave the host's
 * /dev or /proc bound inside its root, and removing through such a mount would remove the host's files.
 */
export async function removeTree(folder: string): Promise<void> {
    const mountPoints = readFileSync("/proc/self/mounts", "utf8")
        .split("\n")
        .map((line) => (line.split(" ")[1] ?? "").replaceAll("\\040", " "))
        .filter((point) => point.startsWith(`${folder}/`));
    for (const point of mountPoints.reverse()) await run("umount", ["--lazy", point], SILENT);
    // A builder that was just ended may still be writing its last files.
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
}
