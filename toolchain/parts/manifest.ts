import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

/** Written beside a part's files when it is built. */
export interface Manifest {
    readonly name: string;
    readonly version: string;
    readonly fingerprint: string;
    /** ISO 8601. */
    readonly madeAt: string;
    readonly seconds: number;
    /** What the part's `make` returned. */
    readonly facts: Record<string, string>;
    readonly files: readonly ManifestFile[];
}

interface ManifestFile {
    /** Relative to the part's folder. */
    readonly path: string;
    readonly bytes: number;
    readonly modifiedMs: number;
    readonly sha256: string;
}

const MANIFEST = "manifest.json";

/** Writes the manifest of a part's folder: each file with its size, time and SHA-256. Links are left out. */
export async function writeManifest(folder: string, about: Omit<Manifest, "files">): Promise<void> {
    const files: ManifestFile[] = [];
    for (const path of regularFiles(folder)) {
        const { size, mtimeMs } = statSync(join(folder, path));
        files.push({ path, bytes: size, modifiedMs: Math.trunc(mtimeMs), sha256: await sha256(join(folder, path)) });
    }
    writeFileSync(join(folder, MANIFEST), `${JSON.stringify({ ...about, files }, null, 4)}\n`);
}

/** Reads a part's manifest; undefined if it is missing or incomplete. */
export function readManifest(folder: string): Manifest | undefined {
    if (!existsSync(join(folder, MANIFEST))) return undefined;
    try {
        return JSON.parse(readFileSync(join(folder, MANIFEST), "utf8")) as Manifest;
    } catch (error) {
        if (error instanceof SyntaxError) return undefined;
        throw error;
    }
}

/**
 * The files of a part that changed since they were built.
 *
 * @param thorough compares SHA-256 sums. @default size and time, which takes a millisecond
 */
export async function damagedFiles(folder: string, manifest: Manifest, thorough = false): Promise<string[]> {
    const damaged: string[] = [];
    for (const file of manifest.files) {
        const found = statSync(join(folder, file.path), { throwIfNoEntry: false });
        const looksRight = found?.size === file.bytes && Math.trunc(found.mtimeMs) === file.modifiedMs;
        if (!looksRight || (thorough && (await sha256(join(folder, file.path))) !== file.sha256))
            damaged.push(file.path);
    }
    return damaged;
}

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256(file: string): Promise<string> {
    const hash = createHash("sha256");
    await pipeline(createReadStream(file), hash);
    return hash.digest("hex");
}

function regularFiles(folder: string, under = ""): string[] {
    return readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) => {
        const path = join(under, entry.name);
        if (entry.isDirectory()) return regularFiles(folder, path);
        return entry.isFile() && path !== MANIFEST ? [path] : [];
    });
}
